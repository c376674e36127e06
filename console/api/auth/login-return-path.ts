const DEFAULT_RETURN_PATH = '/app/tokens'

/**
 * Returns the path to open after a login. `value` comes from the URL. If `value` is not a known
 * path of this site, the default path is returned, so that a link cannot lead users to another
 * site.
 */
export function safeReturnPath(
  value: string | null,
  origin: string,
  isKnownPath: (path: string) => boolean,
): string {
  if (value === null || !/^\/(?!\/)/.test(value) || /[\\\s]/.test(value)) return DEFAULT_RETURN_PATH
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern rejects control characters
  if (/[\u0000-\u001f\u007f]/.test(value) || !URL.canParse(value, origin))
    return DEFAULT_RETURN_PATH
  const url = new URL(value, origin)
  if (url.origin !== origin || !isKnownPath(url.pathname)) return DEFAULT_RETURN_PATH
  return `${url.pathname}${url.search}${url.hash}`
}

export function loginPath(path: string, options: { isExpired: boolean }): string {
  const params = new URLSearchParams()
  if (options.isExpired) params.set('expired', 'true')
  if (path !== '/' && !path.startsWith('/login')) params.set('returnTo', path)
  const query = params.toString()
  return query === '' ? '/login' : `/login?${query}`
}
