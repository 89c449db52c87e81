export async function after({ error, tool }) {
  await new Promise((done) => setTimeout(done, 20));
  console.log(`after ${tool}: ${error?.code}`);
}
