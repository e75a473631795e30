/** Access keys of the S3 servers that tests start. */
export const s3Credentials = { accessKeyId: "filement", secretAccessKey: "a secret of tests" };
