// The order matters: most `User-Agent` headers also contain names of other browsers.
const BROWSERS: readonly (readonly [name: string, mark: RegExp])[] = [
  ['Edge', /\bEdgA?\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+).*\bSafari\//],
]
const SYSTEMS: readonly (readonly [name: string, mark: RegExp])[] = [
  ['iOS', /\b(?:iPhone|iPad|iPod)\b/],
  ['Android', /\bAndroid\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
]
const CHARACTERS_MAX = 40

/**
 * Returns a readable name for a device, such as `Chrome 140 · Windows`. For an unknown browser,
 * returns the system or the beginning of `userAgent`.
 */
export function deviceName(userAgent: string): string {
  const browser = BROWSERS.find(([, mark]) => mark.test(userAgent))
  const system = SYSTEMS.find(([, mark]) => mark.test(userAgent))?.[0]
  if (browser === undefined) return system ?? userAgent.trim().slice(0, CHARACTERS_MAX)
  const [name, mark] = browser
  const version = mark.exec(userAgent)?.[1] ?? ''
  return [`${name} ${version}`.trim(), ...(system === undefined ? [] : [system])].join(' · ')
}
