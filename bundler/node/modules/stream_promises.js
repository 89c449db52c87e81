import{promises}from"node:stream";var{finished,pipeline}=promises;var module_default={finished,pipeline};export{module_default as default,finished,pipeline};
