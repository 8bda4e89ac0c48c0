//! Static fields and static methods of the program and the JDK, for a JVM that executes several runs.

use std::ffi::{CStr, CString, c_void};

use jvmti_bindings::sys::jni::*;

use super::Jni;
use crate::mutex::check_none_is_held;

/// The value of a static field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StaticValue {
    Int(jint),
    Long(jlong),
    /// A global reference; null if the field is.
    Object(usize),
}

/// A static field of a class of the boot loader.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StaticField {
    /// A global reference.
    class: usize,
    field: usize,
    kind: u8,
}

type HashFunction = unsafe extern "system" fn(*mut JNIEnv, jobject) -> jint;

/// The JVM's function that gives an object its identity hash.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NativeHash(HashFunction);

impl NativeHash {
    /// The function, by its name among those that the JVM's library exports for the JDK.
    pub(crate) fn find() -> Option<Self> {
        // SAFETY: the name is a C string, and the lookup has no other precondition.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"JVM_IHashCode".as_ptr()) };
        // SAFETY: the JDK's own code declares the function with this signature.
        (!address.is_null())
            .then(|| Self(unsafe { std::mem::transmute::<*mut c_void, HashFunction>(address) }))
    }

    /// The hash of an object; 0 for null.
    pub(crate) fn of(self, environment: *mut JNIEnv, object: jobject) -> jint {
        // SAFETY: the JVM passed the environment and the object to the native method that calls this.
        unsafe { (self.0)(environment, object) }
    }
}

impl Jni {
    /// A static field; `None` if the class does not exist or does not have it. This initializes the class.
    pub(crate) fn static_field(self, class: &str, name: &str, descriptor: &str) -> Option<StaticField> {
        check_none_is_held("GetStaticFieldID");
        let (class, name) = (CString::new(class).ok()?, CString::new(name).ok()?);
        let class = self.find_class(&class)?;
        let kind = *descriptor.as_bytes().first()?;
        let descriptor = CString::new(descriptor).ok()?;
        let field = jni!(self, GetStaticFieldID, class, name.as_ptr(), descriptor.as_ptr());
        if !self.succeeded() || field.is_null() {
            return None;
        }
        Some(StaticField { class: self.keep(class) as usize, field: field as usize, kind })
    }

    /// The value of a static field. An object is kept as a global reference.
    pub(crate) fn static_value(self, field: StaticField) -> StaticValue {
        let (class, id) = (field.class as jclass, field.field as jfieldID);
        match field.kind {
            b'I' => StaticValue::Int(jni!(self, GetStaticIntField, class, id)),
            b'J' => StaticValue::Long(jni!(self, GetStaticLongField, class, id)),
            _ => {
                let object = jni!(self, GetStaticObjectField, class, id);
                StaticValue::Object(if object.is_null() { 0 } else { self.keep(object) as usize })
            }
        }
    }

    /// Sets a static field to a value of its type, even if it is final.
    pub(crate) fn set_static(self, field: StaticField, value: StaticValue) {
        let (class, id) = (field.class as jclass, field.field as jfieldID);
        match (field.kind, value) {
            (b'I', StaticValue::Int(value)) => jni!(self, SetStaticIntField, class, id, value),
            (b'J', StaticValue::Long(value)) => jni!(self, SetStaticLongField, class, id, value),
            (b'L', StaticValue::Object(value)) => {
                jni!(self, SetStaticObjectField, class, id, value as jobject)
            }
            _ => unreachable!("a static field got a value of another type"),
        }
    }

    /// Calls a method of an object that has no parameters and returns nothing.
    pub(crate) fn call_on(self, object: jobject, name: &CStr) -> bool {
        check_none_is_held("a call");
        let class = self.class_of(object);
        let method = jni!(self, GetMethodID, class, name.as_ptr(), c"()V".as_ptr());
        self.forget(class);
        if !self.succeeded() || method.is_null() {
            return false;
        }
        jni!(self, CallVoidMethodA, object, method, std::ptr::null());
        self.succeeded()
    }

    /// Calls a static method without parameters that returns nothing.
    pub(crate) fn call_static(self, class: jclass, name: &CStr) -> bool {
        check_none_is_held("a call");
        let method = jni!(self, GetStaticMethodID, class, name.as_ptr(), c"()V".as_ptr());
        if !self.succeeded() || method.is_null() {
            return false;
        }
        jni!(self, CallStaticVoidMethodA, class, method, std::ptr::null());
        self.succeeded()
    }

    /// Calls the main method of a class. Returns whether it threw; the exception stays pending.
    pub(crate) fn call_main(self, class: jclass, arguments: jobject) -> bool {
        check_none_is_held("main");
        let signature = c"([Ljava/lang/String;)V";
        // This initializes the class, as in the launcher.
        let method = jni!(self, GetStaticMethodID, class, c"main".as_ptr(), signature.as_ptr());
        if jni!(self, ExceptionCheck) == 0 && !method.is_null() {
            jni!(self, CallStaticVoidMethodA, class, method, &jvalue { l: arguments });
        }
        jni!(self, ExceptionCheck) != 0
    }

    /// The identity hash of a new object.
    pub(crate) fn identity_hash(self) -> Option<u32> {
        let [object, system] = [c"java/lang/Object", c"java/lang/System"].map(|class| self.find_class(class));
        let made = self.make(object?, c"()V", &[])?;
        let signature = c"(Ljava/lang/Object;)I";
        let method = jni!(self, GetStaticMethodID, system?, c"identityHashCode".as_ptr(), signature.as_ptr());
        if !self.succeeded() || method.is_null() {
            return None;
        }
        let hash = jni!(self, CallStaticIntMethodA, system?, method, &jvalue { l: made });
        self.forget(made);
        self.succeeded().then_some(hash.cast_unsigned())
    }

    /// The current thread's object.
    pub(crate) fn current_thread(self) -> Option<jobject> {
        let class = self.find_class(c"java/lang/Thread")?;
        self.static_object(class, c"currentThread", c"()Ljava/lang/Thread;", &[])
    }

    /// The value of a field of an object that is a long or an int.
    pub(crate) fn number_field(self, object: jobject, name: &CStr) -> Option<i64> {
        self.long_field(object, name).or_else(|| self.int_field(object, name).map(i64::from))
    }

    /// Calls a static method without parameters that returns a string, perhaps null; an error if it throws.
    pub(crate) fn static_text(self, class: jclass, name: &CStr) -> Result<Option<String>, ()> {
        check_none_is_held("a call");
        let method = jni!(self, GetStaticMethodID, class, name.as_ptr(), c"()Ljava/lang/String;".as_ptr());
        if !self.succeeded() || method.is_null() {
            return Err(());
        }
        let text = jni!(self, CallStaticObjectMethodA, class, method, std::ptr::null());
        if !self.succeeded() {
            return Err(());
        }
        Ok((!text.is_null()).then(|| self.text(text)))
    }

    /// Sets a field of an object, if its class has one of this name that is a long or an int.
    pub(crate) fn set_number(self, object: jobject, name: &CStr, value: i64) -> bool {
        let class = self.class_of(object);
        for (descriptor, is_long) in [(c"J", true), (c"I", false)] {
            let field = jni!(self, GetFieldID, class, name.as_ptr(), descriptor.as_ptr());
            if self.succeeded() && !field.is_null() {
                match is_long {
                    true => self.set_long(object, field, value),
                    false => self.set_int(object, field, value as i32),
                }
                self.forget(class);
                return true;
            }
        }
        self.forget(class);
        false
    }
}
