package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// How many of its last lines a part that died leaves in the report.
const tailLines = 30

// The order of the end: whatever talks to the API server, then the API server,
// then its store. Parts that are not named here end first.
var endOrder = []string{"kube-apiserver", "etcd"}

// A supervisor runs the parts of one control plane, whose folder it owns.
//
// It is told what to do by lines on its stdin, "VERB PART", and reports by lines on
// its stdout. The end of its stdin is the end of its parent, however that came:
// then it kills the parts and removes the folder. All methods are called on one
// goroutine; the others only send to channels.
type supervisor struct {
	folder string
	parts  map[string]*part
	exits  chan exit
}

type part struct {
	process *os.Process
	// Closed by the goroutine that has waited for the process.
	done chan struct{}
	// Whether the parent asked for the end.
	stopping bool
}

type exit struct {
	name   string
	status string
}

// supervise is the applet: "supervise FOLDER".
//
// FOLDER/parts/NAME holds a part's program and arguments, one per line, and
// FOLDER/logs/NAME.log gets what it writes.
func supervise(args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: control-plane supervise FOLDER")
		return 2
	}
	// Writing to a dead parent must be an error and not the end: there is a
	// folder to remove.
	signal.Ignore(syscall.SIGPIPE)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	commands := make(chan string)
	go readCommands(commands)

	s := &supervisor{folder: args[0], parts: map[string]*part{}, exits: make(chan exit)}
	status := s.run(commands, signals)
	if err := s.end(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

func readCommands(commands chan<- string) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		commands <- lines.Text()
	}
	close(commands)
}

// run obeys until the parent is gone (0), a signal asks for the end (0) or a part
// died by itself (1).
func (s *supervisor) run(commands <-chan string, signals <-chan os.Signal) int {
	for {
		select {
		case command, open := <-commands:
			if !open {
				return 0
			}
			if err := s.obey(command); err != nil {
				report("failed %s: %s", command, err)
				return 1
			}
		case <-signals:
			return 0
		case ended := <-s.exits:
			stopping := s.parts[ended.name].stopping
			delete(s.parts, ended.name)
			if !stopping {
				s.reportTail(ended.name)
				report("died %s %s", ended.name, ended.status)
				return 1
			}
			report("stopped %s %s", ended.name, ended.status)
		}
	}
}

func (s *supervisor) obey(command string) error {
	verb, name, _ := strings.Cut(command, " ")
	if verb == "start" {
		return s.start(name)
	}
	running, found := s.parts[name]
	if !found {
		return errors.New("no such part is running")
	}
	switch verb {
	case "stop":
		running.stopping = true
		return running.process.Signal(syscall.SIGTERM)
	case "kill":
		running.stopping = true
		return running.process.Signal(syscall.SIGKILL)
	case "pause":
		if err := running.process.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		report("paused %s", name)
		return nil
	case "resume":
		if err := running.process.Signal(syscall.SIGCONT); err != nil {
			return err
		}
		report("resumed %s", name)
		return nil
	default:
		return errors.New("no such verb")
	}
}

func (s *supervisor) start(name string) error {
	if _, found := s.parts[name]; found {
		return errors.New("it runs already")
	}
	text, err := os.ReadFile(filepath.Join(s.folder, "parts", name))
	if err != nil {
		return err
	}
	words := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	log, err := os.OpenFile(s.log(name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()

	// The end of this pipe is the end of the supervisor: see lifeline.go.
	command := exec.Command(words[0], words[1:]...)
	command.Dir = s.folder
	command.Stdout = log
	command.Stderr = log
	lifeline, err := hold(command)
	if err != nil {
		return err
	}
	// Parts look for settings in the home folder; those of the user are not meant for them.
	command.Env = append(os.Environ(), "HOME="+s.folder, lifelineVariable+"=3")
	err = command.Start()
	lifeline.Close()
	if err != nil {
		return err
	}
	started := &part{process: command.Process, done: make(chan struct{})}
	s.parts[name] = started
	report("started %s %d", name, command.Process.Pid)
	go func() {
		_ = command.Wait()
		close(started.done)
		s.exits <- exit{name, command.ProcessState.String()}
	}()
	return nil
}

// end kills the parts one after the other and removes the folder. Nothing in it
// is worth a graceful end.
func (s *supervisor) end() error {
	// The rest of the group gets a last signal below; this process must outlive it.
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		for range s.exits {
		}
	}()
	for name, running := range s.parts {
		if name != endOrder[0] && name != endOrder[1] {
			running.kill()
		}
	}
	for _, name := range endOrder {
		if running, found := s.parts[name]; found {
			running.kill()
		}
	}
	if os.Getpid() == syscall.Getpgrp() {
		_ = syscall.Kill(0, syscall.SIGTERM)
	}
	err := os.RemoveAll(s.folder)
	if err == nil {
		report("ended")
	}
	return err
}

// kill returns when the process is gone. A paused process dies of SIGKILL too.
func (p *part) kill() {
	_ = p.process.Kill()
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
	}
}

func (s *supervisor) log(name string) string {
	return filepath.Join(s.folder, "logs", name+".log")
}

func (s *supervisor) reportTail(name string) {
	text, err := os.ReadFile(s.log(name))
	if err != nil {
		return
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range lines[max(0, len(lines)-tailLines):] {
		report("log %s", line)
	}
}

var reporting sync.Mutex

func report(format string, values ...any) {
	reporting.Lock()
	defer reporting.Unlock()
	// A parent that is gone reads nothing, which is no reason to stop cleaning up.
	_, _ = fmt.Fprintf(os.Stdout, format+"\n", values...)
}
