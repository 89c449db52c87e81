import { Buffer } from 'node:buffer';
import process from 'node:process';

export { Buffer, process };
