export default () => {
  for (;;);
};
