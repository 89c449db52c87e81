// Who calls, without where the issuer is: that differs from run to run.
export default (_: any, ctx: any) => {
  if (!ctx.auth) return "nobody";
  const { iss, ...claims } = ctx.auth.claims;
  return { ...ctx.auth, claims, issuer: iss?.split("/").slice(3).join("/") };
};
