// There is no machine to tell of. These are what packages put into a name of a client, or choose their general way by.
import process from 'node:process';

export const EOL = '\n';
export const devNull = '/dev/null';
export const arch = () => process.arch;
export const platform = () => process.platform;
export const type = () => 'Linux';
export const [release, version, machine] = Array(3).fill(() => '');
export const endianness = () => 'LE';
export const hostname = () => 'localhost';
export const homedir = () => '/';
export const tmpdir = () => '/tmp';
export const uptime = () => process.uptime();
export const availableParallelism = () => 1;
export const cpus = () => [];
export const loadavg = () => [0, 0, 0];
export const networkInterfaces = () => ({});
