//! Safe wrappers for the parts of JVMTI and JNI that the agent uses; they return plain data.
//!
//! Errors of the JVM become `None`: every caller can go on without the answer.

use std::{
    ffi::{CStr, CString, c_char, c_void},
    ptr,
};

use jvmti_bindings::sys::{jni::*, jvmti::*};

use crate::mutex::check_none_is_held;

/// The JVMTI environment. It may be used from every thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool(*mut jvmtiEnv);

// SAFETY: JVMTI environments are usable from all threads by specification.
unsafe impl Send for Tool {}
// SAFETY: as above.
unsafe impl Sync for Tool {}

/// The JNI environment of the current thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jni(*mut JNIEnv);

/// The JVM itself, which has the JNI environment of every thread, and to which threads can be attached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vm(*mut JavaVM);

// SAFETY: the invocation interface may be used from all threads.
unsafe impl Send for Vm {}
// SAFETY: as above.
unsafe impl Sync for Vm {}

/// A static boolean field of a class that is never unloaded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Switch {
    class: jclass,
    field: jfieldID,
}

// SAFETY: a global reference and a field id are valid on all threads.
unsafe impl Send for Switch {}
// SAFETY: as above.
unsafe impl Sync for Switch {}

/// A JVMTI raw monitor, which belongs to no Java object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawMonitor {
    tool: Tool,
    monitor: jrawMonitorID,
}

// SAFETY: raw monitors may be used from all threads.
unsafe impl Send for RawMonitor {}
// SAFETY: as above.
unsafe impl Sync for RawMonitor {}

/// The arguments for attaching a thread: `JavaVMAttachArgs` of the JNI specification.
#[repr(C)]
struct AttachArguments {
    version: jint,
    name: *const c_char,
    group: jobject,
}

/// JNI 1.8, which every supported JVM has.
const JNI_VERSION: jint = 0x0001_0008;

/// A thread as the JVM describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ThreadFacts {
    pub(crate) name: String,
    /// The name of its group; `None` for a thread that has ended.
    group: Option<String>,
    pub(crate) is_daemon: bool,
}

impl ThreadFacts {
    /// Whether the thread belongs to the JVM rather than to the program.
    pub(crate) fn is_of_the_jvm(&self) -> bool {
        self.group.as_deref() == Some("system") || self.name == "DestroyJavaVM"
    }
}

/// The state of a thread, as the bits that JVMTI defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreadState(jint);

impl ThreadState {
    /// Whether it waits to enter a monitor.
    pub(crate) fn is_blocked(self) -> bool {
        self.0 & 0x400 != 0
    }

    /// Whether it is parked without a time-out.
    pub(crate) fn parks_for_ever(self) -> bool {
        self.0 & 0x200 != 0 && self.0 & 0x10 != 0
    }

    /// Whether it waits for anything inside of the JVM.
    pub(crate) fn waits(self) -> bool {
        self.0 & 0x80 != 0
    }
}

/// A frame as JVMTI returns it: a method and a position in its bytecode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawFrame {
    pub(crate) method: usize,
    pub(crate) location: i64,
}

/// The modifier `static`.
const STATIC: jint = 0x0008;

/// A field as a class declares it.
#[derive(Debug, Clone)]
pub(crate) struct DeclaredField {
    id: jfieldID,
    pub(crate) name: String,
    pub(crate) descriptor: String,
    pub(crate) is_static: bool,
}

/// Calls a JVMTI function if the JVM has it; the value is whether it succeeded.
macro_rules! tool {
    ($tool:expr, $function:ident $(, $argument:expr)*) => {
        // SAFETY: the environment is valid for the life of the JVM, and the arguments are of the function's types.
        unsafe {
            (*(*$tool.0).functions)
                .$function
                .is_some_and(|function| function($tool.0 $(, $argument)*) == jvmtiError::NONE)
        }
    };
}

/// Calls a JNI function.
macro_rules! jni {
    ($jni:expr, $function:ident $(, $argument:expr)*) => {
        // SAFETY: the environment belongs to the current thread, and the arguments are of the function's types.
        unsafe { ((**$jni.0).$function)($jni.0 $(, $argument)*) }
    };
}

impl Vm {
    /// Wraps the pointer that the JVM gave to the agent.
    pub(crate) fn new(vm: *mut JavaVM) -> Vm {
        Vm(vm)
    }

    /// The environment of the current thread, if the JVM knows that thread.
    pub(crate) fn jni(self) -> Option<Jni> {
        let mut environment: *mut c_void = ptr::null_mut();
        // SAFETY: `self.0` is the JVM's pointer, and `environment` receives the result.
        let answer = unsafe { ((**self.0).GetEnv)(self.0, &mut environment, JNI_VERSION) };
        (answer == 0 && !environment.is_null()).then_some(Jni(environment.cast()))
    }
}

impl RawMonitor {
    /// Creates a raw monitor, which exists as long as the JVM.
    pub(crate) fn new(tool: Tool) -> Option<Self> {
        let mut monitor: jrawMonitorID = ptr::null_mut();
        tool!(tool, CreateRawMonitor, c"fissure".as_ptr(), &mut monitor).then_some(Self { tool, monitor })
    }

    /// Enters it; fails for threads that are not attached to the JVM.
    pub(crate) fn enter(self) -> bool {
        tool!(self.tool, RawMonitorEnter, self.monitor)
    }

    /// Leaves it.
    pub(crate) fn exit(self) -> bool {
        tool!(self.tool, RawMonitorExit, self.monitor)
    }

    /// Waits for a notification or the time-out; returns false if the wait failed or was interrupted.
    pub(crate) fn wait(self, milliseconds: i64) -> bool {
        tool!(self.tool, RawMonitorWait, self.monitor, milliseconds)
    }

    /// Wakes all waiting threads.
    pub(crate) fn notify_all(self) -> bool {
        tool!(self.tool, RawMonitorNotifyAll, self.monitor)
    }
}

impl Tool {
    /// Gets the JVMTI environment of a JVM that is starting, in the version of Java 11.
    ///
    /// # Safety
    /// `vm` must be the pointer that the JVM gave to the agent.
    pub(crate) unsafe fn of(vm: *mut JavaVM) -> Option<Tool> {
        let mut environment: *mut c_void = ptr::null_mut();
        // SAFETY: the caller vouches for `vm`.
        let answer = unsafe { ((**vm).GetEnv)(vm, &mut environment, 0x300B_0000) };
        (answer == 0 && !environment.is_null()).then_some(Tool(environment.cast()))
    }

    /// Requests the capabilities that the agent needs; support for virtual threads only if the JVM has it.
    pub(crate) fn add_capabilities(self, object_free: bool) -> bool {
        let mut possible = jvmtiCapabilities::default();
        let _ = tool!(self, GetPotentialCapabilities, &mut possible);
        let mut wanted = jvmtiCapabilities::default();
        wanted.set_can_generate_all_class_hook_events(true);
        wanted.set_can_generate_early_class_hook_events(true);
        wanted.set_can_generate_early_vmstart(true);
        wanted.set_can_tag_objects(true);
        wanted.set_can_get_line_numbers(true);
        wanted.set_can_generate_object_free_events(object_free);
        wanted.set_can_get_source_file_name(true);
        // Finds the lock in a deadlock. Unlike the capabilities that report the monitors a thread owns, it does not change how the
        // JVM compiles code.
        wanted.set_can_get_current_contended_monitor(possible.can_get_current_contended_monitor());
        if possible.can_support_virtual_threads() {
            wanted.set_can_support_virtual_threads(true);
        }
        tool!(self, AddCapabilities, &wanted)
    }

    /// Sets the callbacks and enables their events.
    pub(crate) fn set_callbacks(self, callbacks: &jvmtiEventCallbacks, events: &[u32]) -> bool {
        tool!(self, SetEventCallbacks, callbacks, size_of::<jvmtiEventCallbacks>() as jint)
            && events.iter().all(|&event| self.enable(event))
    }

    /// Enables an event for all threads.
    pub(crate) fn enable(self, event: u32) -> bool {
        tool!(self, SetEventNotificationMode, JVMTI_ENABLE, event, ptr::null_mut())
    }

    /// A system property.
    pub(crate) fn system_property(self, name: &CStr) -> Option<String> {
        let mut value: *mut c_char = ptr::null_mut();
        tool!(self, GetSystemProperty, name.as_ptr(), &mut value).then(|| self.take_text(value))?
    }

    /// The descriptor of a class, `Ljava/lang/String;`.
    pub(crate) fn class_descriptor(self, class: jclass) -> Option<String> {
        let mut signature: *mut c_char = ptr::null_mut();
        tool!(self, GetClassSignature, class, &mut signature, ptr::null_mut())
            .then(|| self.take_text(signature))?
    }

    /// The internal name of a class, `java/lang/String`.
    pub(crate) fn class_name(self, class: jclass) -> Option<String> {
        let text = self.class_descriptor(class)?;
        Some(match text.strip_prefix('L').and_then(|rest| rest.strip_suffix(';')) {
            Some(name) => name.to_owned(),
            None => text,
        })
    }

    /// The loader that defined a class; null for the boot loader.
    pub(crate) fn class_loader(self, class: jclass) -> Option<jobject> {
        let mut loader: jobject = ptr::null_mut();
        tool!(self, GetClassLoader, class, &mut loader).then_some(loader)
    }

    /// The name of the module that contains a loader's package; the package is written with slashes.
    pub(crate) fn module_of(self, jni: Jni, loader: jobject, package: &str) -> Option<String> {
        let package = CString::new(package).ok()?;
        let mut module: jobject = ptr::null_mut();
        let is_known = tool!(self, GetNamedModule, loader, package.as_ptr(), &mut module);
        if !is_known || module.is_null() {
            return None;
        }
        let name = jni.text_field(module, c"name");
        jni.forget(module);
        name
    }

    /// The interfaces that a class implements directly.
    pub(crate) fn interfaces(self, class: jclass) -> Vec<jclass> {
        let mut count = 0;
        let mut interfaces: *mut jclass = ptr::null_mut();
        if !tool!(self, GetImplementedInterfaces, class, &mut count, &mut interfaces) {
            return Vec::new();
        }
        self.take_table(interfaces, count)
    }

    /// The fields that a class declares, without initializing it.
    pub(crate) fn fields(self, class: jclass) -> Vec<DeclaredField> {
        let mut count = 0;
        let mut fields: *mut jfieldID = ptr::null_mut();
        if !tool!(self, GetClassFields, class, &mut count, &mut fields) {
            return Vec::new();
        }
        let ids = self.take_table(fields, count);
        ids.into_iter().filter_map(|id| self.field(class, id)).collect()
    }

    fn field(self, class: jclass, id: jfieldID) -> Option<DeclaredField> {
        let mut name: *mut c_char = ptr::null_mut();
        let mut descriptor: *mut c_char = ptr::null_mut();
        if !tool!(self, GetFieldName, class, id, &mut name, &mut descriptor, ptr::null_mut()) {
            return None;
        }
        let (name, descriptor) = (self.take_text(name), self.take_text(descriptor));
        let mut modifiers = 0;
        if !tool!(self, GetFieldModifiers, class, id, &mut modifiers) {
            return None;
        }
        let is_static = modifiers & STATIC != 0;
        Some(DeclaredField { id, name: name?, descriptor: descriptor?, is_static })
    }

    /// The name of a class's source file.
    pub(crate) fn source_file(self, class: jclass) -> Option<String> {
        let mut name: *mut c_char = ptr::null_mut();
        tool!(self, GetSourceFileName, class, &mut name).then(|| self.take_text(name))?
    }

    /// The tag of an object; 0 if it has none.
    pub(crate) fn tag(self, object: jobject) -> i64 {
        let mut tag = 0;
        if tool!(self, GetTag, object, &mut tag) { tag } else { 0 }
    }

    /// Tags an object.
    pub(crate) fn set_tag(self, object: jobject, tag: i64) -> bool {
        tool!(self, SetTag, object, tag)
    }

    /// The stack of the current thread, innermost frame first.
    pub(crate) fn stack(self, most: usize) -> Vec<RawFrame> {
        self.stack_of(ptr::null_mut(), most)
    }

    /// The stack of a thread, innermost frame first.
    pub(crate) fn stack_of(self, thread: jobject, most: usize) -> Vec<RawFrame> {
        let mut frames = vec![jvmtiFrameInfo { method: ptr::null_mut(), location: 0 }; most];
        let mut count = 0;
        if !tool!(self, GetStackTrace, thread, 0, most as jint, frames.as_mut_ptr(), &mut count) {
            return Vec::new();
        }
        frames.truncate(count.max(0) as usize);
        frames
            .iter()
            .map(|frame| RawFrame { method: frame.method as usize, location: frame.location })
            .collect()
    }

    /// The stacks of all threads, innermost frame first; empty if the current thread is not attached to the JVM.
    pub(crate) fn all_stacks(self, most: usize) -> Vec<Vec<RawFrame>> {
        let mut stacks: *mut jvmtiStackInfo = ptr::null_mut();
        let mut count = 0;
        if !tool!(self, GetAllStackTraces, most as jint, &mut stacks, &mut count) || stacks.is_null() {
            return Vec::new();
        }
        // SAFETY: the JVM allocated a table of `count` entries, with the frames of each in the same block of memory.
        let infos = unsafe { std::slice::from_raw_parts(stacks, count.max(0) as usize) };
        let frames_of_threads = infos
            .iter()
            .filter(|info| !info.frame_buffer.is_null())
            .map(|info| {
                // SAFETY: as above.
                let frames = unsafe {
                    std::slice::from_raw_parts(info.frame_buffer, info.frame_count.max(0) as usize)
                };
                frames
                    .iter()
                    .map(|frame| RawFrame { method: frame.method as usize, location: frame.location })
                    .collect()
            })
            .collect();
        self.free(stacks.cast());
        frames_of_threads
    }

    /// Whether a thread has started and not ended.
    pub(crate) fn is_alive(self, thread: jobject) -> bool {
        let mut state = 0;
        tool!(self, GetThreadState, thread, &mut state) && state & 1 != 0
    }

    /// The name of a method and the class that declares it.
    pub(crate) fn method(self, method: usize) -> Option<(jclass, String)> {
        let method = method as jmethodID;
        let mut class: jclass = ptr::null_mut();
        if !tool!(self, GetMethodDeclaringClass, method, &mut class) {
            return None;
        }
        let mut name: *mut c_char = ptr::null_mut();
        let name = tool!(self, GetMethodName, method, &mut name, ptr::null_mut(), ptr::null_mut())
            .then(|| self.take_text(name))??;
        Some((class, name))
    }

    /// The source line of a frame.
    pub(crate) fn line(self, frame: RawFrame) -> Option<u32> {
        let mut count = 0;
        let mut table: *mut jvmtiLineNumberEntry = ptr::null_mut();
        if frame.location < 0
            || !tool!(self, GetLineNumberTable, frame.method as jmethodID, &mut count, &mut table)
        {
            return None;
        }
        self.take_table(table, count)
            .iter()
            .filter(|entry| entry.start_location <= frame.location)
            .max_by_key(|entry| entry.start_location)
            .map(|entry| entry.line_number as u32)
    }

    /// Whether a thread belongs to the JVM rather than to the program.
    pub(crate) fn is_of_the_jvm(self, jni: Jni, thread: jobject) -> bool {
        self.facts(jni, thread).is_none_or(|facts| facts.is_of_the_jvm())
    }

    /// The name, group and kind of a thread; null means the current one.
    pub(crate) fn facts(self, jni: Jni, thread: jobject) -> Option<ThreadFacts> {
        // SAFETY: all fields of the structure are pointers and numbers, for which zero is a valid value.
        let mut info: jvmtiThreadInfo = unsafe { std::mem::zeroed() };
        if !tool!(self, GetThreadInfo, thread, &mut info) {
            return None;
        }
        let name = self.take_text(info.name).unwrap_or_default();
        let group = (!info.thread_group.is_null()).then(|| {
            // SAFETY: as above.
            let mut group: jvmtiThreadGroupInfo = unsafe { std::mem::zeroed() };
            let known = tool!(self, GetThreadGroupInfo, info.thread_group, &mut group);
            jni.forget(info.thread_group);
            if !group.parent.is_null() {
                jni.forget(group.parent);
            }
            known.then(|| self.take_text(group.name)).flatten().unwrap_or_default()
        });
        if !info.context_class_loader.is_null() {
            jni.forget(info.context_class_loader);
        }
        Some(ThreadFacts { name, group, is_daemon: info.is_daemon != 0 })
    }

    /// All threads that have started and not ended, except virtual ones, as local references.
    pub(crate) fn threads(self) -> Vec<jobject> {
        let mut count = 0;
        let mut threads: *mut jthread = ptr::null_mut();
        if !tool!(self, GetAllThreads, &mut count, &mut threads) {
            return Vec::new();
        }
        self.take_table(threads, count)
    }

    /// The state of a thread.
    pub(crate) fn state(self, thread: jobject) -> Option<ThreadState> {
        let mut state = 0;
        tool!(self, GetThreadState, thread, &mut state).then_some(ThreadState(state))
    }

    /// The object whose monitor a thread waits to enter, as a local reference.
    pub(crate) fn contended_monitor(self, thread: jobject) -> Option<jobject> {
        let mut monitor: jobject = ptr::null_mut();
        let is_found = tool!(self, GetCurrentContendedMonitor, thread, &mut monitor);
        (is_found && !monitor.is_null()).then_some(monitor)
    }

    /// The thread group of the JVM's own threads, as a local reference.
    pub(crate) fn system_group(self) -> Option<jobject> {
        let mut count = 0;
        let mut groups: *mut jthreadGroup = ptr::null_mut();
        if !tool!(self, GetTopThreadGroups, &mut count, &mut groups) {
            return None;
        }
        self.take_table(groups, count).into_iter().next()
    }

    /// Starts a new thread that executes `work` and is hidden from Java code.
    pub(crate) fn run_hidden(self, thread: jobject, work: jvmtiStartFunction) -> bool {
        tool!(self, RunAgentThread, thread, Some(work), ptr::null(), JVMTI_THREAD_NORM_PRIORITY)
    }

    /// Copies a rewritten class into memory that the JVM will free.
    pub(crate) fn give(self, bytes: &[u8]) -> Option<(*mut u8, jint)> {
        let length = jint::try_from(bytes.len()).ok()?;
        let mut memory: *mut u8 = ptr::null_mut();
        if !tool!(self, Allocate, i64::from(length), &mut memory) || memory.is_null() {
            return None;
        }
        // SAFETY: the JVM has just allocated `length` bytes at `memory`.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len()) };
        Some((memory, length))
    }

    fn take_text(self, text: *mut c_char) -> Option<String> {
        if text.is_null() {
            return None;
        }
        // SAFETY: the JVM returned a NUL-terminated string that we own until we deallocate it.
        let owned = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        self.free(text.cast());
        Some(owned)
    }

    /// Copies a table that the JVM allocated for us and frees it. An empty one may be null.
    fn take_table<T: Copy>(self, table: *mut T, count: jint) -> Vec<T> {
        if table.is_null() {
            return Vec::new();
        }
        // SAFETY: the JVM allocated a table of `count` entries for us.
        let entries = unsafe { std::slice::from_raw_parts(table, count.max(0) as usize) }.to_vec();
        self.free(table.cast());
        entries
    }

    /// Frees memory that the JVM allocated for us. A failure is ignored, because nothing could be done about it.
    fn free(self, memory: *mut u8) {
        let _ = tool!(self, Deallocate, memory);
    }
}

impl Vm {
    /// Attaches the current thread to the JVM as a daemon with this name and group, and runs `work` on it.
    pub(crate) fn attached(self, name: &CStr, group: jobject, work: impl FnOnce(Jni)) {
        let mut arguments = AttachArguments { version: JNI_VERSION, name: name.as_ptr(), group };
        let mut environment: *mut c_void = ptr::null_mut();
        // SAFETY: the JVM's function table is valid for its life, and the arguments are those of the specification.
        let answer = unsafe {
            ((**self.0).AttachCurrentThreadAsDaemon)(
                self.0,
                &mut environment,
                (&raw mut arguments).cast::<c_void>(),
            )
        };
        if answer != 0 || environment.is_null() {
            return;
        }
        work(Jni::new(environment.cast()));
        // SAFETY: this thread was attached above, and no Java frame is on its stack.
        unsafe { ((**self.0).DetachCurrentThread)(self.0) };
    }
}

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
        self.succeeded() && !class.is_null()
    }

    /// Finds a class of the boot loader.
    pub(crate) fn find_class(self, name: &CStr) -> Option<jclass> {
        check_none_is_held("FindClass");
        let class = jni!(self, FindClass, name.as_ptr());
        (self.succeeded() && !class.is_null()).then_some(class)
    }

    /// Throws a new exception, of a class of the boot loader, from the native method that calls this.
    #[cfg(debug_assertions)]
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
        let chars = jni!(self, GetStringUTFChars, string, ptr::null_mut());
        if chars.is_null() {
            self.succeeded();
            return String::new();
        }
        // SAFETY: the JVM returned a NUL-terminated string that stays valid until it is released.
        let text = unsafe { CStr::from_ptr(chars) }.to_string_lossy().into_owned();
        jni!(self, ReleaseStringUTFChars, string, chars);
        text
    }

    /// Whether the last call threw no exception; a pending exception is cleared.
    fn succeeded(self) -> bool {
        if jni!(self, ExceptionCheck) == 0 {
            return true;
        }
        jni!(self, ExceptionClear);
        false
    }
}
