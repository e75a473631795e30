/** The option that takes rights from a program; Node 20 calls it experimental. */
export const permissionFlag: string = process.allowedNodeEnvironmentFlags.has("--permission")
  ? "--permission"
  : "--experimental-permission";
