/**
 * The target that replaces a refused target. The router answers this target with 400, because its
 * percent encoding is broken.
 */
export const REFUSED_TARGET = '/%'

const ABSOLUTE = /^https?:\/\/([^/?#@]+)(.*)$/is
/**
 * Matches paths that need no normalization, because they have neither encoded characters nor
 * segments that are empty or begin with a dot.
 */
const PLAIN = /^(?:\/(?!\.)[\w.~!$&'()*+,;=:@-]+)*\/?$/
/**
 * Matches paths with complete percent encodings (RFC 3986, 3.3). Only the last segment may be
 * empty.
 */
const SEGMENTS = /^(?:\/(?:[^\s\\#/%]|%[0-9a-f]{2})+)*\/?$/i
const DOT_SEGMENT = /\/\.\.?(?:\/|$)/
const UNRESERVED = /^[\w.~-]$/

/**
 * Returns the canonical form of a request's target. The relay, the router, the cross-site check and
 * the cache headers all use this form. If they used different forms, a path could pass a check in
 * one form and be routed in another.
 *
 * Encoded characters that need no encoding are decoded (RFC 3986, section 6.2.2.2). An absolute
 * target becomes its path if it names the host of the request (RFC 9112, section 3.2.2). The query
 * is unchanged.
 *
 * A target becomes `REFUSED_TARGET` if its path has dot segments, empty segments, `#`, backslashes,
 * white space or broken encodings, because different servers interpret such a path differently. An
 * absolute target that names another host is refused as well.
 */
export function canonicalTarget(target: string, host: string | undefined): string {
  const origin = target.startsWith('/') ? target : originForm(target, host)
  if (origin === null) return REFUSED_TARGET
  const query = origin.indexOf('?')
  const path = query < 0 ? origin : origin.slice(0, query)
  if (PLAIN.test(path)) return origin
  if (!SEGMENTS.test(path)) return REFUSED_TARGET
  const decoded = path.replace(/%[0-9a-f]{2}/gi, decodeUnreserved)
  if (DOT_SEGMENT.test(decoded)) return REFUSED_TARGET
  return query < 0 ? decoded : `${decoded}${origin.slice(query)}`
}

/**
 * Returns the canonical form of a request's target, like `canonicalTarget`, but reads adjacent
 * slashes in a path of the relay as one slash. Base URLs of API clients often end with a slash, and
 * the clients add another one. `isRelays` reports whether a target is one of the relay's.
 *
 * If the relay's target must be refused, `refused` contains the target with single slashes. The
 * relay then refuses the request in the format of the target's API.
 */
export function targetForRelay(
  target: string,
  host: string | undefined,
  isRelays: (target: string) => boolean,
): { readonly target: string; readonly refused: string | null } {
  const canonical = canonicalTarget(target, host)
  if (canonical !== REFUSED_TARGET) return { target: canonical, refused: null }
  const [path = '', ...query] = target.split('?')
  const single = [path.replace(/\/{2,}/g, '/'), ...query].join('?')
  if (!isRelays(single)) return { target: REFUSED_TARGET, refused: null }
  const read = canonicalTarget(single, host)
  // Decoding could have turned the path into one of another API.
  const isRead = read !== REFUSED_TARGET && isRelays(read)
  return { target: isRead ? read : REFUSED_TARGET, refused: isRead ? null : single }
}

function originForm(target: string, host: string | undefined): string | null {
  const [, authority, rest = ''] = ABSOLUTE.exec(target) ?? []
  if (authority === undefined || authority.toLowerCase() !== host?.toLowerCase()) return null
  return rest.startsWith('/') ? rest : `/${rest}`
}

function decodeUnreserved(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
  return UNRESERVED.test(character) ? character : encoded
}
