//! Safe wrappers for the parts of JVMTI and JNI that the agent uses; they return plain data.
//!
//! Errors of the JVM become `None`: every caller can go on without the answer.

use std::{
    ffi::{CStr, CString, c_char, c_void},
    ptr,
};

use jvmti_bindings::sys::{jni::*, jvmti::*};

pub(crate) use fissure_control::RawFrame;

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

mod jni;
mod statics;

pub(crate) use statics::{NativeHash, StaticField, StaticValue};

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
        // SAFETY: the JVM's function table is valid for its life.
        let attach = unsafe { (**self.0).AttachCurrentThreadAsDaemon };
        self.attached_by(attach, name, group, work);
    }

    /// The same for a thread whose end the JVM waits for. An exception that `work` leaves is handled as uncaught.
    pub(crate) fn attached_as_user(self, name: &CStr, group: jobject, work: impl FnOnce(Jni)) -> bool {
        // SAFETY: the JVM's function table is valid for its life.
        let attach = unsafe { (**self.0).AttachCurrentThread };
        self.attached_by(attach, name, group, work)
    }

    fn attached_by(
        self,
        attach: unsafe extern "system" fn(*mut JavaVM, *mut *mut c_void, *mut c_void) -> jint,
        name: &CStr,
        group: jobject,
        work: impl FnOnce(Jni),
    ) -> bool {
        let mut arguments = AttachArguments { version: JNI_VERSION, name: name.as_ptr(), group };
        let mut environment: *mut c_void = ptr::null_mut();
        // SAFETY: the arguments are those of the specification.
        let answer = unsafe { attach(self.0, &mut environment, (&raw mut arguments).cast::<c_void>()) };
        if answer != 0 || environment.is_null() {
            return false;
        }
        work(Jni::new(environment.cast()));
        // SAFETY: this thread was attached above, and no Java frame is on its stack.
        unsafe { ((**self.0).DetachCurrentThread)(self.0) };
        true
    }
}
