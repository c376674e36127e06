/** Stands for a target that is refused: no route has it, and the router answers it with 400. */
export const REFUSED_TARGET = '/%'

const ABSOLUTE = /^https?:\/\/([^/?#@]+)(.*)$/is
/** A path as nearly all are: nothing encoded, no empty segment, none that begins with a dot. */
const PLAIN = /^(?:\/(?!\.)[\w.~!$&'()*+,;=:@-]+)*\/?$/
/** Segments that are not empty, but for the last one, with whole encodings (RFC 3986, 3.3). */
const SEGMENTS = /^(?:\/(?:[^\s\\#/%]|%[0-9a-f]{2})+)*\/?$/i
const DOT_SEGMENT = /\/\.\.?(?:\/|$)/
const UNRESERVED = /^[\w.~-]$/

/**
 * The one spelling of a request's target by which every later part routes and judges it: relay,
 * router, cross-site check, cache headers, draining. Two spellings of one path would else be able
 * to pass a check under one of them and be routed by the other.
 *
 * Encoded characters that need no encoding are decoded (RFC 3986, section 6.2.2.2), so that what
 * stays encoded belongs to no route's own text; an absolute form becomes its path if it names the
 * host of the request (RFC 9112, section 3.2.2). `REFUSED_TARGET` for everything that servers read
 * in more than one way: dot segments, empty segments, fragments, backslashes, broken encodings. The
 * query is left as it is.
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

function originForm(target: string, host: string | undefined): string | null {
  const [, authority, rest = ''] = ABSOLUTE.exec(target) ?? []
  if (authority === undefined || authority.toLowerCase() !== host?.toLowerCase()) return null
  return rest.startsWith('/') ? rest : `/${rest}`
}

function decodeUnreserved(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
  return UNRESERVED.test(character) ? character : encoded
}
