//! The sample `webpage`, tested as a whole: its life under the rights of `deploy/`, its commands, its process, and chaos.

mod canary;
mod chaos;
mod commands;
mod configured;
mod dashboard;
mod dev;
mod dry;
mod life;
mod process;
mod support;
mod targets;
