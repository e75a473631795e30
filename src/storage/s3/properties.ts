import { contentTypeTable } from "../../http/content-type.ts";
import type { StoredFields } from "../storage.ts";

/** What an object has beside its content, by the names in the store's commands. It outlives changes of content. */
export interface Properties {
  readonly ContentType?: string | undefined;
  readonly ContentEncoding?: string | undefined;
  readonly ContentLanguage?: string | undefined;
  readonly ContentDisposition?: string | undefined;
  readonly CacheControl?: string | undefined;
  readonly Metadata?: Readonly<Record<string, string>> | undefined;
}

const typeOf = contentTypeTable({});
/** What stores and tools say where they know no type. */
const unknownTypes: ReadonlySet<string> = new Set(["binary/octet-stream", "application/octet-stream", ""]);
/** No codings of the content; the first is what some stores keep of how it was sent. */
const noCodings: ReadonlySet<string> = new Set(["aws-chunked", "identity", ""]);

/** How the names of metadata begin that say what an object is to us. */
const ownPrefix = "filement";

/** What another program has stored with an object: a type only where it is not the one that the key has anyway. */
export function propertiesOf(answer: Properties, key: string): Properties {
  const {
    ContentType = "",
    ContentEncoding = "",
    ContentLanguage,
    ContentDisposition,
    CacheControl,
    Metadata = {},
  } = answer;
  const codings = ContentEncoding.split(",").filter((coding) => !noCodings.has(coding.trim().toLowerCase()));
  return {
    ContentType: unknownTypes.has(ContentType) || ContentType === typeOf(key) ? undefined : ContentType,
    ContentEncoding: codings.length > 0 ? codings.join(",").trim() : undefined,
    ContentLanguage,
    ContentDisposition,
    CacheControl,
    Metadata: Object.fromEntries(Object.entries(Metadata).filter(([name]) => !name.startsWith(ownPrefix))),
  };
}

/** What is stored with a new version. */
export function keptProperties(kept: Properties, metadata: Readonly<Record<string, string>>, key: string): Properties {
  return { ...kept, ContentType: kept.ContentType ?? typeOf(key), Metadata: { ...kept.Metadata, ...metadata } };
}

/** The header fields that they stand for; `undefined` where there are none. */
export function fieldsOf(properties: Properties): StoredFields | undefined {
  const { ContentType, ContentEncoding, ContentLanguage, ContentDisposition, CacheControl } = properties;
  const fields = {
    "content-type": ContentType,
    "content-encoding": ContentEncoding,
    "content-language": ContentLanguage,
    "content-disposition": ContentDisposition,
    "cache-control": CacheControl,
  };
  const known = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}
