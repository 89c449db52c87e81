export default async () => {
  await new Promise((resolve) => setTimeout(resolve, 20));
  return "done";
};
