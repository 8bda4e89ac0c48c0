//! Field and method descriptors, as far as stack effects need them.

/// How many stack slots a value of this type takes; a method's result may take none.
pub(crate) fn slots(descriptor: &[u8]) -> usize {
    match descriptor.first() {
        Some(b'J' | b'D') => 2,
        Some(b'V') | None => 0,
        _ => 1,
    }
}

/// The parameter types of a method. Ends early where the descriptor is malformed.
pub(crate) fn parameters(descriptor: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = descriptor.iter().rposition(|byte| *byte == b')').unwrap_or_default();
    let mut rest = descriptor.get(..end).and_then(|text| text.strip_prefix(b"(")).unwrap_or_default();
    std::iter::from_fn(move || {
        let dimensions = rest.iter().take_while(|byte| **byte == b'[').count();
        let length = match rest.get(dimensions)? {
            b'L' => dimensions + rest.iter().skip(dimensions).position(|byte| *byte == b';')? + 1,
            _ => dimensions + 1,
        };
        let (first, others) = rest.split_at_checked(length)?;
        rest = others;
        Some(first)
    })
}

/// The result type of a method, empty if the descriptor has none.
pub(crate) fn result(descriptor: &[u8]) -> &[u8] {
    match descriptor.iter().rposition(|byte| *byte == b')') {
        Some(end) => descriptor.get(end + 1..).unwrap_or_default(),
        None => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(descriptor: &str, expected_parameters: &[&str], expected_result: &str) {
        let found: Vec<&[u8]> = parameters(descriptor.as_bytes()).collect();
        let expected: Vec<&[u8]> = expected_parameters.iter().map(|text| text.as_bytes()).collect();
        assert_eq!(found, expected, "{descriptor}");
        assert_eq!(result(descriptor.as_bytes()), expected_result.as_bytes(), "{descriptor}");
    }

    #[test]
    fn method_descriptors_are_taken_apart() {
        check("()V", &[], "V");
        check("(IJ[[DLjava/lang/String;Z)[I", &["I", "J", "[[D", "Ljava/lang/String;", "Z"], "[I");
        check("([Lx;)Ly;", &["[Lx;"], "Ly;");
        check("(Lbroken", &[], "");
        check("", &[], "");
        check("([)V", &[], "V");
    }
}
