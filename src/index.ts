export { ConfigError, type FileServerConfig, type HostConfig, type PageConfig } from "./config.ts";
export { loadConfig } from "./config-page/load-when-asked.ts";
export { createFileServer, type FileServer } from "./file-server.ts";
export type {
  EditedPage,
  ProgramFiles,
  ProgramOptions,
  ProgramWriteOptions,
  ReadFile,
  WrittenFile,
} from "./hosts/program-files.ts";
export type { Edit, InsertPosition } from "./html/edit/edits.ts";
export type { TrustProxy } from "./http/client-address.ts";
export { type ErrorCode, HttpError, type HttpErrorOptions, type ReplyHeaders } from "./http/http-error.ts";
export type { FileMethod } from "./http/methods.ts";
export type { MountPoint } from "./http/request-target.ts";
export type { AccessLogEntry } from "./plugins/access-log/entry.ts";
export { type AccessLogOptions, type AccessLogPlugin, accessLog } from "./plugins/access-log.ts";
export type { CheckCredentials, CheckedCredentials } from "./plugins/basic-auth/accounts.ts";
export type { Encryption, UserRecord } from "./plugins/basic-auth/users.ts";
export { type BasicAuthOptions, basicAuth } from "./plugins/basic-auth.ts";
export { type CorsOptions, cors } from "./plugins/cors.ts";
export { type DirectoryOptions, directory } from "./plugins/directory.ts";
export { type ErrorPagesOptions, errorPages } from "./plugins/error-pages.ts";
export { type EventStreamOptions, eventStream } from "./plugins/event-stream.ts";
export { type FileHandlerOptions, fileHandler } from "./plugins/file-handler.ts";
export { type ConnectMiddleware, fromMiddleware } from "./plugins/from-middleware.ts";
export { type GuardedRequest, type GuardOptions, guard } from "./plugins/guard.ts";
export type { HealthCheck } from "./plugins/health-check/watched-check.ts";
export { type HealthCheckOptions, healthCheck } from "./plugins/health-check.ts";
export { type HistoryOptions, history } from "./plugins/history.ts";
export { type MetricsOptions, type MetricsRegistry, metrics } from "./plugins/metrics.ts";
export type { PermissionRule } from "./plugins/permissions/rules.ts";
export {
  type FindUser,
  type FoundUser,
  type PermissionsOptions,
  permissions,
  type SignedIn,
} from "./plugins/permissions.ts";
export type { BucketDecision, BucketStore, RateLimitPolicy } from "./plugins/rate-limit/token-bucket.ts";
export { type KeyStrategy, type RateLimitOptions, rateLimit } from "./plugins/rate-limit.ts";
export { type RedirectsOptions, redirects } from "./plugins/redirects.ts";
export { type SecurityHeadersOptions, securityHeaders } from "./plugins/security-headers.ts";
export { type WebSocketOptions, webSocket } from "./plugins/web-socket.ts";
export type { UpgradeOptions } from "./runtime/entries.ts";
export type { FetchInfo } from "./runtime/fetch-request.ts";
export type { Access, Right, SelectedElements, User } from "./server/access.ts";
export type {
  BeforeWrite,
  EditsWrite,
  ElementWrite,
  FileWrite,
  PendingWrite,
  WritingExchange,
} from "./server/before-write.ts";
export type {
  Change,
  ChangedByEdit,
  ChangeFeed,
  ChangeKind,
  ChangeListener,
  ChangeOrigin,
  EditsChange,
  ElementsChange,
  FeedEnd,
  FeedPosition,
  FileChange,
  FileDeletion,
  PastChange,
  SharedFeed,
  UnnumberedChange,
} from "./server/change-feed.ts";
export type { Exchange, RequestBody } from "./server/exchange.ts";
export type { Version, VersionList } from "./server/file-history.ts";
export type { HostRequest } from "./server/incoming-request.ts";
export type { Logger } from "./server/logger.ts";
export type { ConnectedClient, Next, Outcome, Plugin, PluginSite, Scope } from "./server/plugin.ts";
export { bodyBytes, bodyText, emptyReply, jsonReply, type Reply, type ReplyBody, withBody } from "./server/reply.ts";
export type {
  CacheControl,
  Download,
  FileHandling,
  SentFile,
  Site,
  SiteOptions,
} from "./server/site.ts";
export { type DiskStorageOptions, diskStorage } from "./storage/disk/disk-storage.ts";
export type { HeldLock, Locks, SharedLocks } from "./storage/locks.ts";
export { memoryStorage } from "./storage/memory/memory-storage.ts";
export {
  type ByteSpan,
  type CommitCheck,
  type Content,
  type FileUpdate,
  type MoveChecks,
  type OpenFile,
  type OpenFor,
  type Storage,
  StorageError,
  type StorageErrorCode,
  type StorageWatcher,
  type StoredEntry,
  type StoredFields,
  type StoredStat,
  type Unwatch,
  type WriteOptions,
  type WriteResult,
} from "./storage/storage.ts";
