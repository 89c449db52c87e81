// Prints what a program returns, as the text of a tool's result has it.
import { pathToFileURL } from 'node:url';

const { default: run } = await import(pathToFileURL(process.argv[2]));
const result = await run();
const plain = (_, value) => (typeof value !== 'bigint' ? value : Number.isSafeInteger(Number(value)) ? Number(value) : String(value));
process.stdout.write(typeof result === 'string' ? result : JSON.stringify(result, plain), () => process.exit(0));
