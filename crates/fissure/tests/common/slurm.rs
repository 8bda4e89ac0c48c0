//! A Slurm cluster of one node, in its own folder. It needs no systemd, no root and no other service.

use std::{
    env, fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::Duration,
};

use super::{isolated, output_text};

/// How many seconds any command of Slurm may take, jobs included.
const PATIENCE: &str = "240";
/// How often the test checks whether the node is up, and the pause between two checks.
const CHECKS: usize = 150;
const PAUSE: Duration = Duration::from_millis(200);

/// The cluster, and its two daemons.
pub(crate) struct Cluster {
    folder: tempfile::TempDir,
    daemons: Vec<Child>,
}

impl Cluster {
    /// Starts a cluster; the error says why there is none.
    pub(crate) fn start() -> Result<Cluster, String> {
        let (controller, node) = (program("slurmctld")?, program("slurmd")?);
        program("sbatch")?;
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("slurm.conf"), configuration(folder.path())?).unwrap();
        let mut cluster = Cluster { folder, daemons: Vec::new() };
        for daemon in [controller, node] {
            let log = fs::File::create(cluster.folder.path().join("daemons.log")).unwrap();
            let mut command = cluster.command(&daemon);
            command.arg("-D").stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
            cluster.daemons.push(command.spawn().map_err(|error| error.to_string())?);
        }
        for _ in 0..CHECKS {
            let output = cluster.run("sinfo", &["--noheader", "--format=%T"], cluster.folder.path());
            if String::from_utf8_lossy(&output.stdout).trim() == "idle" {
                return Ok(cluster);
            }
            thread::sleep(PAUSE);
        }
        let read = |name: &str| fs::read_to_string(cluster.folder.path().join(name)).unwrap_or_default();
        Err(format!("its node does not come up: {}{}", read("slurmctld.log"), read("slurmd.log")))
    }

    /// Runs a command of Slurm in a folder, for a limited time.
    pub(crate) fn run(&self, program: &str, arguments: &[&str], folder: &Path) -> Output {
        let mut command = self.command(Path::new("timeout"));
        command.args([PATIENCE, program]).args(arguments).current_dir(folder).stdin(Stdio::null());
        command.output().unwrap()
    }

    /// Submits a job and gives its number.
    pub(crate) fn submit(&self, arguments: &[&str], script: &str, folder: &Path) -> String {
        let arguments = [&["--parsable"], arguments, &["--wrap", script]].concat();
        let output = self.run("sbatch", &arguments, folder);
        assert!(output.status.success(), "{}", output_text(&output));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = isolated(program);
        command.env("SLURM_CONF", self.folder.path().join("slurm.conf"));
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// Daemons are often not on the search path of users.
fn program(name: &str) -> Result<PathBuf, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    let mut paths = folders.map(|folder| folder.join(name));
    paths.find(|path| path.is_file()).ok_or_else(|| format!("there is no `{name}`"))
}

fn configuration(folder: &Path) -> Result<String, String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").map_err(|error| error.to_string())?;
    let name = name.trim().split('.').next().unwrap_or_default();
    let user = Command::new("id").arg("-un").output().map_err(|error| error.to_string())?;
    let user = String::from_utf8_lossy(&user.stdout).trim().to_owned();
    // Both are held until both are known, so that they differ.
    let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [controller, node] = ports.map(|port| port.local_addr().unwrap().port());
    let folder = folder.display();
    Ok(format!(
        "ClusterName=test\n\
         SlurmctldHost={name}(127.0.0.1)\n\
         SlurmUser={user}\n\
         SlurmdUser={user}\n\
         SlurmctldPort={controller}\n\
         SlurmdPort={node}\n\
         AuthType=auth/none\n\
         CredType=cred/none\n\
         StateSaveLocation={folder}/state\n\
         SlurmdSpoolDir={folder}/spool\n\
         SlurmctldPidFile={folder}/slurmctld.pid\n\
         SlurmdPidFile={folder}/slurmd.pid\n\
         SlurmctldLogFile={folder}/slurmctld.log\n\
         SlurmdLogFile={folder}/slurmd.log\n\
         ProctrackType=proctrack/linuxproc\n\
         TaskPlugin=task/none\n\
         SelectType=select/cons_tres\n\
         SelectTypeParameters=CR_CPU\n\
         ReturnToService=2\n\
         NodeName={name} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\n\
         PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP\n"
    ))
}
