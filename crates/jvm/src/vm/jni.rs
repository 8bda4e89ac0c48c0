//! JNI, as far as the agent uses it. A function that can run Java code checks that the thread holds no mutex of the agent.

use std::{
    ffi::{CStr, CString, c_void},
    ptr,
};

use jvmti_bindings::sys::jni::*;

use super::{DeclaredField, Jni, Switch};
use crate::mutex::check_none_is_held;

impl Jni {
    /// Wraps the environment that the JVM passed to a callback or native method.
    pub(crate) fn new(environment: *mut JNIEnv) -> Jni {
        Jni(environment)
    }

    /// Runs `work` in a local frame, which frees all local references that it creates.
    pub(crate) fn in_frame<T>(self, otherwise: T, work: impl FnOnce() -> T) -> T {
        if jni!(self, PushLocalFrame, 32) != 0 {
            self.succeeded();
            return otherwise;
        }
        let result = work();
        jni!(self, PopLocalFrame, ptr::null_mut());
        result
    }

    /// Defines a class in the boot loader.
    pub(crate) fn define_class(self, name: &str, bytes: &[u8]) -> bool {
        check_none_is_held("DefineClass");
        let Ok(name) = CString::new(name) else { return false };
        let class = jni!(
            self,
            DefineClass,
            name.as_ptr(),
            ptr::null_mut(),
            bytes.as_ptr().cast(),
            bytes.len() as jint
        );
        let is_defined = self.succeeded() && !class.is_null();
        if !class.is_null() {
            self.forget(class);
        }
        is_defined
    }

    /// Finds a class of the boot loader.
    pub(crate) fn find_class(self, name: &CStr) -> Option<jclass> {
        check_none_is_held("FindClass");
        let class = jni!(self, FindClass, name.as_ptr());
        (self.succeeded() && !class.is_null()).then_some(class)
    }

    /// Throws a new exception, of a class of the boot loader, from the native method that calls this.
    pub(crate) fn throw(self, class: &CStr, message: &CStr) {
        if let Some(class) = self.find_class(class) {
            jni!(self, ThrowNew, class, message.as_ptr());
        }
    }

    /// Gives a thread a permit by `LockSupport.unpark`.
    pub(crate) fn unpark(self, thread: jobject) {
        if let Some(class) = self.find_class(c"java/util/concurrent/locks/LockSupport") {
            self.call_with(class, c"unpark", c"(Ljava/lang/Thread;)V", thread);
        }
    }

    /// Creates a global reference, which is valid on all threads.
    pub(crate) fn keep(self, object: jobject) -> jobject {
        jni!(self, NewGlobalRef, object)
    }

    /// Deletes a global reference.
    pub(crate) fn release(self, object: jobject) {
        jni!(self, DeleteGlobalRef, object);
    }

    /// Enters an object's monitor.
    pub(crate) fn enter(self, object: jobject) -> bool {
        check_none_is_held("MonitorEnter");
        jni!(self, MonitorEnter, object) == 0 && self.succeeded()
    }

    /// Exits an object's monitor completely; returns how often the thread had entered it.
    pub(crate) fn leave_all(self, object: jobject) -> u32 {
        check_none_is_held("MonitorExit");
        let mut times = 0;
        while self.holds(object) {
            jni!(self, MonitorExit, object);
            if !self.succeeded() {
                break;
            }
            times += 1;
        }
        times
    }

    /// Whether the current thread owns an object's monitor. Exiting a monitor that it does not own would throw.
    fn holds(self, object: jobject) -> bool {
        let (name, signature) = (c"holdsLock", c"(Ljava/lang/Object;)Z");
        let Some(class) = self.find_class(c"java/lang/Thread") else { return false };
        let method = jni!(self, GetStaticMethodID, class, name.as_ptr(), signature.as_ptr());
        let holds = self.succeeded()
            && !method.is_null()
            && jni!(self, CallStaticBooleanMethodA, class, method, &jvalue { l: object }) != 0;
        self.forget(class);
        self.succeeded() && holds
    }

    /// Deletes a local reference.
    pub(crate) fn forget(self, object: jobject) {
        jni!(self, DeleteLocalRef, object);
    }

    /// Registers native methods.
    pub(crate) fn register_natives(self, class: jclass, methods: &[(&CStr, &CStr, *mut c_void)]) -> bool {
        let methods: Vec<JNINativeMethod> = methods
            .iter()
            .map(|&(name, signature, function)| JNINativeMethod {
                name: name.as_ptr(),
                signature: signature.as_ptr(),
                fnPtr: function,
            })
            .collect();
        jni!(self, RegisterNatives, class, methods.as_ptr(), methods.len() as jint) == 0 && self.succeeded()
    }

    /// Calls a static method that takes one object and returns nothing.
    pub(crate) fn call_with(self, class: jclass, name: &CStr, signature: &CStr, argument: jobject) -> bool {
        check_none_is_held("a call");
        let method = jni!(self, GetStaticMethodID, class, name.as_ptr(), signature.as_ptr());
        if !self.succeeded() || method.is_null() {
            return false;
        }
        jni!(self, CallStaticVoidMethodA, class, method, &jvalue { l: argument });
        self.succeeded()
    }

    /// Calls a static method that takes one object and returns a long.
    pub(crate) fn long_from(
        self,
        class: jclass,
        name: &CStr,
        signature: &CStr,
        argument: jobject,
    ) -> Option<i64> {
        check_none_is_held("a call");
        let method = jni!(self, GetStaticMethodID, class, name.as_ptr(), signature.as_ptr());
        if !self.succeeded() || method.is_null() {
            return None;
        }
        let value = jni!(self, CallStaticLongMethodA, class, method, &jvalue { l: argument });
        self.succeeded().then_some(value)
    }

    /// Creates an object with the constructor of this signature.
    pub(crate) fn make(self, class: jclass, signature: &CStr, arguments: &[jvalue]) -> Option<jobject> {
        check_none_is_held("a constructor");
        let constructor = jni!(self, GetMethodID, class, c"<init>".as_ptr(), signature.as_ptr());
        if !self.succeeded() || constructor.is_null() {
            return None;
        }
        let made = jni!(self, NewObjectA, class, constructor, arguments.as_ptr());
        (self.succeeded() && !made.is_null()).then_some(made)
    }

    /// Calls a static method; `None` if it throws or returns null.
    pub(crate) fn static_object(
        self,
        class: jclass,
        name: &CStr,
        signature: &CStr,
        arguments: &[jvalue],
    ) -> Option<jobject> {
        check_none_is_held("a call");
        let method = jni!(self, GetStaticMethodID, class, name.as_ptr(), signature.as_ptr());
        if !self.succeeded() || method.is_null() {
            return None;
        }
        let value = jni!(self, CallStaticObjectMethodA, class, method, arguments.as_ptr());
        (self.succeeded() && !value.is_null()).then_some(value)
    }

    /// Calls a method of an object; `None` if it throws or returns null.
    pub(crate) fn object_of(
        self,
        object: jobject,
        name: &CStr,
        signature: &CStr,
        arguments: &[jvalue],
    ) -> Option<jobject> {
        let method = self.method_of(object, name, signature)?;
        let value = jni!(self, CallObjectMethodA, object, method, arguments.as_ptr());
        (self.succeeded() && !value.is_null()).then_some(value)
    }

    /// Calls a method without parameters that returns a long.
    pub(crate) fn long_of(self, object: jobject, name: &CStr) -> Option<i64> {
        let method = self.method_of(object, name, c"()J")?;
        let value = jni!(self, CallLongMethodA, object, method, ptr::null());
        self.succeeded().then_some(value)
    }

    /// Calls a method without parameters that returns an int.
    pub(crate) fn int_of(self, object: jobject, name: &CStr) -> Option<i32> {
        let method = self.method_of(object, name, c"()I")?;
        let value = jni!(self, CallIntMethodA, object, method, ptr::null());
        self.succeeded().then_some(value)
    }

    /// Calls a method without parameters that returns a string.
    pub(crate) fn text_of(self, object: jobject, name: &CStr) -> Option<String> {
        let text = self.object_of(object, name, c"()Ljava/lang/String;", &[])?;
        let owned = self.text(text);
        self.forget(text);
        Some(owned)
    }

    fn method_of(self, object: jobject, name: &CStr, signature: &CStr) -> Option<jmethodID> {
        check_none_is_held("a call");
        let class = self.class_of(object);
        let method = jni!(self, GetMethodID, class, name.as_ptr(), signature.as_ptr());
        self.forget(class);
        (self.succeeded() && !method.is_null()).then_some(method)
    }

    /// The elements of an object array that are not null, as local references.
    pub(crate) fn elements(self, array: jobject) -> Vec<jobject> {
        (0..self.length(array)).filter_map(|at| self.element(array, at)).collect()
    }

    /// The length of an array.
    pub(crate) fn length(self, array: jobject) -> usize {
        jni!(self, GetArrayLength, array).max(0) as usize
    }

    /// Whether two references refer to the same object.
    pub(crate) fn is_same(self, left: jobject, right: jobject) -> bool {
        jni!(self, IsSameObject, left, right) != 0
    }

    /// Whether an object is an instance of a class or of one of its subclasses.
    pub(crate) fn is_a(self, object: jobject, class: jclass) -> bool {
        jni!(self, IsInstanceOf, object, class) != 0
    }

    /// The value of an object field with this id.
    pub(crate) fn object_at(self, object: jobject, field: jfieldID) -> Option<jobject> {
        let value = jni!(self, GetObjectField, object, field);
        (!value.is_null()).then_some(value)
    }

    /// The value of a long field with this id.
    pub(crate) fn long_at(self, object: jobject, field: jfieldID) -> i64 {
        jni!(self, GetLongField, object, field)
    }

    /// Sets the first elements of a long array.
    pub(crate) fn fill(self, array: jobject, values: &[i64]) {
        jni!(self, SetLongArrayRegion, array, 0, values.len() as jint, values.as_ptr());
        self.succeeded();
    }

    /// The elements of an int array.
    pub(crate) fn ints(self, array: jobject) -> Vec<i32> {
        let mut values = vec![0; jni!(self, GetArrayLength, array).max(0) as usize];
        jni!(self, GetIntArrayRegion, array, 0, values.len() as jint, values.as_mut_ptr());
        self.succeeded();
        values
    }

    /// A new int array with these elements; null if there is no memory for it.
    pub(crate) fn int_array(self, values: &[i32]) -> jobject {
        let array = jni!(self, NewIntArray, values.len() as jint);
        if self.succeeded() && !array.is_null() {
            jni!(self, SetIntArrayRegion, array, 0, values.len() as jint, values.as_ptr());
            self.succeeded();
        }
        array
    }

    /// An element of an object array, if it is not null.
    pub(crate) fn element(self, array: jobject, at: usize) -> Option<jobject> {
        let element = jni!(self, GetObjectArrayElement, array, at as jint);
        (self.succeeded() && !element.is_null()).then_some(element)
    }

    /// The elements of a long array.
    pub(crate) fn longs(self, array: jobject) -> Vec<i64> {
        let mut values = vec![0; jni!(self, GetArrayLength, array).max(0) as usize];
        jni!(self, GetLongArrayRegion, array, 0, values.len() as jint, values.as_mut_ptr());
        self.succeeded();
        values
    }

    /// The class of an object.
    pub(crate) fn class_of(self, object: jobject) -> jclass {
        jni!(self, GetObjectClass, object)
    }

    /// The superclass, if there is one.
    pub(crate) fn superclass(self, class: jclass) -> Option<jclass> {
        let class = jni!(self, GetSuperclass, class);
        (!class.is_null()).then_some(class)
    }

    /// A field of a class as a `java.lang.reflect.Field`.
    pub(crate) fn reflected_field(self, class: jclass, name: &str, descriptor: &str) -> Option<jobject> {
        check_none_is_held("GetFieldID");
        let (name, descriptor) = (CString::new(name).ok()?, CString::new(descriptor).ok()?);
        let field = jni!(self, GetFieldID, class, name.as_ptr(), descriptor.as_ptr());
        if !self.succeeded() || field.is_null() {
            return None;
        }
        self.to_reflected(class, field, false)
    }

    /// A field of a class as a `java.lang.reflect.Field`.
    pub(crate) fn reflect(self, class: jclass, field: &DeclaredField) -> Option<jobject> {
        self.to_reflected(class, field.id, field.is_static)
    }

    /// The object in a field that is not static and holds references, if there is one; runs no Java code.
    pub(crate) fn object_in(self, object: jobject, field: &DeclaredField) -> Option<jobject> {
        if field.is_static || !field.descriptor.starts_with(['L', '[']) {
            return None;
        }
        self.object_at(object, field.id)
    }

    /// `is_static` must be right: the meaning of a field id depends on it, and the JVM does not check it.
    fn to_reflected(self, class: jclass, field: jfieldID, is_static: bool) -> Option<jobject> {
        let reflected = jni!(self, ToReflectedField, class, field, jboolean::from(is_static));
        (self.succeeded() && !reflected.is_null()).then_some(reflected)
    }

    /// The value of an object field.
    pub(crate) fn object_field(self, object: jobject, name: &CStr, descriptor: &CStr) -> Option<jobject> {
        check_none_is_held("GetFieldID");
        let class = self.class_of(object);
        let field = jni!(self, GetFieldID, class, name.as_ptr(), descriptor.as_ptr());
        self.forget(class);
        if !self.succeeded() || field.is_null() {
            return None;
        }
        let value = jni!(self, GetObjectField, object, field);
        (!value.is_null()).then_some(value)
    }

    /// The value of a string field.
    pub(crate) fn text_field(self, object: jobject, name: &CStr) -> Option<String> {
        let string = self.object_field(object, name, c"Ljava/lang/String;")?;
        let text = self.text(string);
        self.forget(string);
        Some(text)
    }

    /// The code source of a protection domain, as protocol and file of its URL. This runs no Java code.
    pub(crate) fn code_location(self, domain: jobject) -> Option<(String, String)> {
        let source = self.object_field(domain, c"codesource", c"Ljava/security/CodeSource;")?;
        let location = self.object_field(source, c"location", c"Ljava/net/URL;");
        self.forget(source);
        let location = location?;
        let parts = (self.text_field(location, c"protocol"), self.text_field(location, c"file"));
        self.forget(location);
        Some((parts.0?, parts.1?))
    }

    /// The value of a long field.
    pub(crate) fn long_field(self, object: jobject, name: &CStr) -> Option<i64> {
        check_none_is_held("GetFieldID");
        let class = self.class_of(object);
        let field = jni!(self, GetFieldID, class, name.as_ptr(), c"J".as_ptr());
        self.forget(class);
        if !self.succeeded() || field.is_null() {
            return None;
        }
        Some(jni!(self, GetLongField, object, field))
    }

    /// The value of an int field.
    pub(crate) fn int_field(self, object: jobject, name: &CStr) -> Option<i32> {
        if object.is_null() {
            return None;
        }
        check_none_is_held("GetFieldID");
        let class = self.class_of(object);
        let field = jni!(self, GetFieldID, class, name.as_ptr(), c"I".as_ptr());
        self.forget(class);
        if !self.succeeded() || field.is_null() {
            return None;
        }
        Some(jni!(self, GetIntField, object, field))
    }

    /// A static boolean field of a class as a switch.
    pub(crate) fn switch(self, class: jclass, name: &CStr) -> Option<Switch> {
        let field = jni!(self, GetStaticFieldID, class, name.as_ptr(), c"Z".as_ptr());
        (self.succeeded() && !field.is_null()).then(|| Switch { class: self.keep(class), field })
    }

    /// Sets a switch to false. This runs no Java code.
    pub(crate) fn turn_off(self, switch: Switch) {
        jni!(self, SetStaticBooleanField, switch.class, switch.field, 0);
    }

    /// The id of a field.
    pub(crate) fn field(self, class: jclass, name: &CStr, descriptor: &CStr) -> Option<jfieldID> {
        check_none_is_held("GetFieldID");
        let field = jni!(self, GetFieldID, class, name.as_ptr(), descriptor.as_ptr());
        (self.succeeded() && !field.is_null()).then_some(field)
    }

    /// Sets a long field.
    pub(crate) fn set_long(self, object: jobject, field: jfieldID, value: i64) {
        jni!(self, SetLongField, object, field, value);
    }

    /// Sets an int field.
    pub(crate) fn set_int(self, object: jobject, field: jfieldID, value: i32) {
        jni!(self, SetIntField, object, field, value);
    }

    /// A new Java string; null if there is no memory for it.
    pub(crate) fn string(self, text: &str) -> jobject {
        let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
        let string = jni!(self, NewStringUTF, text.as_ptr());
        self.succeeded();
        string
    }

    /// The text of a Java string.
    pub(crate) fn text(self, string: jobject) -> String {
        if string.is_null() {
            return String::new();
        }
        // `GetStringUTFChars` encodes emoji and NUL differently from UTF-8, so the characters are taken as UTF-16.
        let length = jni!(self, GetStringLength, string).max(0);
        let mut chars = vec![0; length as usize];
        // The range is that of the string, so this throws nothing.
        jni!(self, GetStringRegion, string, 0, length, chars.as_mut_ptr());
        String::from_utf16_lossy(&chars)
    }

    /// Whether the last call threw no exception; a pending exception is cleared.
    pub(super) fn succeeded(self) -> bool {
        if jni!(self, ExceptionCheck) == 0 {
            return true;
        }
        jni!(self, ExceptionClear);
        false
    }
}
