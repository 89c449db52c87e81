//! `bootstrap`: the app as an AWS Lambda function.
//!
//! In come invocations of the [Runtime
//! API](https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html), out go answers. The binary
//! holds no app: it reads `app.bundle` beside itself, so one binary serves every app. In the order
//! of the data:
//!
//! - [`event`]: an invocation's event → a request of the core;
//! - [`invocation`]: the invocation's time, and who answers when;
//! - [`isolates`]: the threads that answer, and the endpoint on each;
//! - [`databases`]: where SQLite's files are;
//! - [`answer`]: a response of the core → what the front end takes;
//! - [`streaming`]: a streamed answer → the Runtime API;
//! - [`settle`]: what goes on after the answer;
//! - [`stuck`]: whether an isolate is stuck.
//!
//! # Variables
//! | name | |
//! |---|---|
//! | `MILLRACE_LOG` | what is logged; `warn` where it is not set |
//! | `MILLRACE_BASE_PATH` | what stands in front of the app's paths, such as a domain's `/v1` |
//! | `MILLRACE_STATE` | the folder of counters and records; `millrace/state` in the folder for temporary files where it is not set |
//! | `MILLRACE_RESPONSE` | `stream` where the function's front end streams answers |

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    thread::available_parallelism,
};

use lambda_runtime::{Error, Runtime, service_fn};
use lambda_runtime_api_client::{PooledClient, body::Body};
use millrace_core::{
    app::{App, named_tools},
    ports::Env as _,
    secret::Secret,
};
use millrace_native::{
    cache::CacheChoice,
    env::Variables,
    logging,
    secrets::SecretsChoice,
    state,
    telemetry::{self, Abilities, TelemetrySettings},
};

mod answer;
mod databases;
mod event;
mod invocation;
mod isolates;
mod now;
mod settle;
mod streaming;
mod stuck;

use databases::Places;
use invocation::{HandlerSettings, InvocationHandler};
use isolates::{Isolates, Seed};
use settle::Settling;
use streaming::Streaming;

/// What the runtime needs to know of Lambda, and ends without.
const OF_LAMBDA: [&str; 4] =
    ["AWS_LAMBDA_RUNTIME_API", "AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_VERSION"];

fn main() -> ExitCode {
    let outcome = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(1)
        .build()
        .map_err(Error::from)
        .and_then(|runtime| runtime.block_on(serve()));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Error> {
    if let Some(missing) = OF_LAMBDA.into_iter().find(|name| env::var_os(name).is_none()) {
        return Err(format!("`bootstrap` runs as an AWS Lambda function, and `{missing}` is not set; see docs/lambda.md").into());
    }
    let concurrency = env::var("AWS_LAMBDA_MAX_CONCURRENCY").ok().and_then(|text| text.parse().ok()).unwrap_or(1_usize).max(1);
    let front = match start(concurrency) {
        Ok(front) => front,
        Err(error) => {
            report(&error).await;
            return Err(error);
        }
    };
    let (streaming, settling) = (Streaming::new(&front, concurrency), front.settling.clone());
    Runtime::new(service_fn(move |event| front.clone().answer(event))).layer(streaming).layer(settling).run_concurrent().await
}

/// Everything before the first invocation. `concurrency`: how many there are at a time.
fn start(concurrency: usize) -> Result<InvocationHandler, Error> {
    let variables = Variables::of_process();
    let log = env::var("MILLRACE_LOG").unwrap_or_else(|_| "warn".into());
    logging::init(logging::filter(&log).map_err(|error| format!("`MILLRACE_LOG`: {error}"))?, logging::Format::of(&variables)?)?;
    let streams = match env::var("MILLRACE_RESPONSE").as_deref() {
        Ok("stream") => true,
        Ok("buffer" | "") | Err(_) => false,
        Ok(other) => return Err(format!("`MILLRACE_RESPONSE` is `{other}`; it may be `buffer` or `stream`").into()),
    };
    let package = package()?;
    let app = app(&package.join("app.bundle"))?;
    let body_limit = app.server.body_limit as usize;
    let places = Places { package: package.join("data"), copies: env::temp_dir().join("millrace") };
    let isolates = concurrency.min(available_parallelism().map_or(1, Into::into));
    let cache = CacheChoice::of(&variables).map_err(|error| error.into_parts().message)?;
    SecretsChoice::of(&variables).map_err(|error| error.into_parts().message)?;
    // Whatever the start says of the folder: it is the environment's own, and gone with it.
    let variables = match variables.var(state::VARIABLE) {
        Some(_) => variables,
        None => variables.with(state::VARIABLE, Secret::new(env::temp_dir().join("millrace/state").display().to_string())),
    };
    if let (CacheChoice::Memory, Some(tools)) = (&cache, named_tools(app.counted_tools())) {
        tracing::warn!(
            "each environment of the function counts and records the calls of {tools} for itself: limits are not exact, and an idempotent \
             handler may run once in each; set `MILLRACE_CACHE` to `dynamodb:TABLE` or to the address of a Redis server"
        );
    }
    let telemetry = TelemetrySettings::of_app(&app, &variables, Abilities::Function);
    let telemetry = telemetry.map_err(|error| error.into_parts().message)?;
    telemetry.iter().try_for_each(telemetry::check).map_err(|error| error.to_string())?;
    if let Some(missing) = app.missing_state_key(&variables) {
        tracing::warn!("{missing}");
    }
    for missing in app.missing(&variables, None) {
        tracing::warn!("{missing}");
    }
    if let Some(problem) = app.sign_in_problem(&variables) {
        tracing::warn!("{problem}");
    }
    let seed = Seed { app, variables, cache, telemetry, places, streams };
    Ok(InvocationHandler {
        isolates: Arc::new(Isolates::start(&seed, isolates)?),
        settling: Settling::new(concurrency == 1),
        settings: Arc::new(HandlerSettings { body_limit, base_path: base_path()?, streams }),
    })
}

/// The folder of the package: Lambda's, or this binary's own.
fn package() -> Result<PathBuf, Error> {
    if let Some(folder) = env::var_os("LAMBDA_TASK_ROOT").filter(|folder| !folder.is_empty()) {
        return Ok(folder.into());
    }
    let binary = env::current_exe()?;
    Ok(binary.parent().unwrap_or(Path::new("/")).to_owned())
}

fn app(bundle: &Path) -> Result<App, Error> {
    let shown = bundle.display();
    let bytes = fs::read(bundle)
        .map_err(|error| format!("`{shown}` cannot be read: {error}; `millrace build --target lambda` puts it beside `bootstrap`"))?;
    App::from_bundle(&bytes).map_err(|error| format!("`{shown}`: {error}").into())
}

fn base_path() -> Result<String, Error> {
    let path = env::var("MILLRACE_BASE_PATH").unwrap_or_default();
    let path = path.trim_end_matches('/');
    if !path.is_empty() && !path.starts_with('/') {
        return Err(format!("`MILLRACE_BASE_PATH` is `{path}`; it must begin with `/`").into());
    }
    Ok(path.to_owned())
}

/// Tells Lambda why the function cannot start; the operator sees it in the answer of the first
/// invocation, too.
async fn report(error: &Error) {
    let body = serde_json::json!({ "errorType": "Millrace.Start", "errorMessage": error.to_string() }).to_string();
    let request = http::Request::post("/2018-06-01/runtime/init/error")
        .header("lambda-runtime-function-error-type", "Millrace.Start")
        .body(Body::from(body));
    let outcome = match request {
        Ok(request) => PooledClient::builder().build().call(request).await.map(drop),
        Err(error) => Err(error.into()),
    };
    if let Err(error) = outcome {
        eprintln!("error: could not report to Lambda: {error}");
    }
}
