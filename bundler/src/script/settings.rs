//! What `tsconfig.json` says about the files of an app: how they are compiled, and what paths stand
//! for.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use oxc::transformer::{JsxOptions, JsxRuntime, TransformOptions};
use oxc_resolver::{ExtendsField, ResolveOptions, Resolver, TsConfig, TsconfigDiscovery};

use super::place::whole_file;
use crate::Diagnostic;

/// How a file is compiled.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    /// `experimentalDecorators`
    pub(super) legacy_decorators: bool,
    /// `emitDecoratorMetadata`
    metadata: bool,
    /// `verbatimModuleSyntax`
    keeps_imports: bool,
    /// `useDefineForClassFields: false`
    assigns_fields: bool,
    jsx: Option<Jsx>,
}

#[derive(Clone, Debug, Default)]
struct Jsx {
    is_classic: bool,
    factory: Option<String>,
    fragment: Option<String>,
    source: Option<String>,
}

impl Settings {
    fn of(config: &TsConfig) -> Self {
        let options = &config.compiler_options;
        Self {
            legacy_decorators: options.experimental_decorators == Some(true),
            metadata: options.emit_decorator_metadata == Some(true),
            keeps_imports: options.verbatim_module_syntax == Some(true),
            assigns_fields: options.use_define_for_class_fields == Some(false),
            jsx: Some(Jsx {
                is_classic: options.jsx.as_deref() == Some("react"),
                factory: options.jsx_factory.clone(),
                fragment: options.jsx_fragment_factory.clone(),
                source: options.jsx_import_source.clone(),
            }),
        }
    }

    /// For the transformer.
    pub(super) fn transform(&self, path: &Path) -> TransformOptions {
        let mut options = TransformOptions::default();
        options.decorator.legacy = self.legacy_decorators;
        options.decorator.emit_decorator_metadata = self.metadata;
        options.typescript.only_remove_type_imports = self.keeps_imports;
        options.typescript.remove_class_fields_without_initializer = self.assigns_fields;
        if path.extension().is_some_and(|extension| extension == "tsx" || extension == "jsx") {
            let jsx = self.jsx.clone().unwrap_or_default();
            if let Some(factory) = &jsx.factory {
                options.typescript.jsx_pragma = factory.clone().into();
            }
            if let Some(fragment) = &jsx.fragment {
                options.typescript.jsx_pragma_frag = fragment.clone().into();
            }
            options.jsx = JsxOptions {
                runtime: if jsx.is_classic { JsxRuntime::Classic } else { JsxRuntime::Automatic },
                import_source: jsx.source.filter(|_| !jsx.is_classic),
                pragma: jsx.factory.filter(|_| jsx.is_classic),
                pragma_frag: jsx.fragment.filter(|_| jsx.is_classic),
                ..JsxOptions::enable()
            };
        }
        options
    }
}

/// The `tsconfig.json` of an app's files.
#[derive(Debug)]
pub(super) struct Configs {
    folder: PathBuf,
    resolver: Resolver,
    /// Those that were read, below the app's folder.
    pub(super) files: BTreeSet<PathBuf>,
    /// Those that cannot be read, which was said.
    broken: BTreeSet<PathBuf>,
}

impl Configs {
    pub(super) fn new(folder: &Path) -> Self {
        let options = ResolveOptions { tsconfig: Some(TsconfigDiscovery::Auto), ..ResolveOptions::default() };
        Self { folder: folder.to_path_buf(), resolver: Resolver::new(options), files: BTreeSet::new(), broken: BTreeSet::new() }
    }

    /// The one that a file of the app belongs to, if it is in the app's folder, too.
    fn find(&mut self, path: &Path, diagnostics: &mut Vec<Diagnostic>) -> Option<Arc<TsConfig>> {
        if !self.folder.join("tsconfig.json").is_file()
            && !path.ancestors().skip(1).any(|above| self.folder.join(above).join("tsconfig.json").is_file())
        {
            return None;
        }
        match self.resolver.find_tsconfig(self.folder.join(path)) {
            Ok(found) => {
                let found = found.filter(|config| config.path.starts_with(&self.folder))?;
                self.read(found.path.clone());
                Some(found)
            }
            Err(_) => {
                // One above the app's folder is not the app's.
                let own = path.ancestors().skip(1).map(|above| above.join("tsconfig.json")).filter(|file| self.folder.join(file).is_file());
                for file in own {
                    let Err(error) = self.resolver.resolve_tsconfig(self.folder.join(&file)) else { continue };
                    if self.broken.insert(file.clone()) {
                        let reason = error.to_string().replace(&format!("{}/", self.folder.display()), "").replace(['\'', '"'], "`");
                        let message = format!("`{}` cannot be read: {reason}", file.display());
                        diagnostics.push(whole_file(&file, message, "correct it, or what it `extends`"));
                    }
                }
                None
            }
        }
    }

    /// Notes that a file was read, and the files of the app that it extends.
    fn read(&mut self, file: PathBuf) {
        let mut files = vec![file];
        while let Some(file) = files.pop() {
            let Ok(below) = file.strip_prefix(&self.folder).map(Path::to_path_buf) else { continue };
            if !file.is_file() || !self.files.insert(below) {
                continue;
            }
            let extended = match self.resolver.resolve_tsconfig(&file).map(|config| config.extends.clone()) {
                Ok(Some(ExtendsField::Single(one))) => vec![one],
                Ok(Some(ExtendsField::Multiple(many))) => many,
                Ok(None) | Err(_) => Vec::new(),
            };
            for specifier in extended.iter().filter(|specifier| specifier.starts_with('.')) {
                let path = super::npm::flat(&file.with_file_name(specifier));
                files.extend([path.with_added_extension("json"), path]);
            }
        }
    }

    /// How a file of the app is compiled.
    pub(super) fn settings(&mut self, path: &Path, diagnostics: &mut Vec<Diagnostic>) -> Settings {
        self.find(path, diagnostics).map_or_else(Settings::default, |config| Settings::of(&config))
    }

    /// Where `paths` and `baseUrl` lead from a file, below the app's folder, whether there is such
    /// a file or not.
    pub(super) fn paths(&mut self, path: &Path, specifier: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<PathBuf> {
        let Some(config) = self.find(path, diagnostics) else { return Vec::new() };
        let found = config.resolve_path_alias_or_base_url(specifier).into_iter();
        let is_own = |below: &PathBuf| !below.components().any(|part| part.as_os_str() == "node_modules");
        found.filter_map(|path| Some(super::npm::flat(&path).strip_prefix(&self.folder).ok()?.to_path_buf())).filter(is_own).collect()
    }
}
