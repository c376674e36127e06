/** Splits a text into lines, each with an IP address or a network. */
export const addressLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** Returns the first line (from 1) that is not an IP address or network, or null if all are. */
export function wrongAddress(text: string): { line: number; address: string } | null {
  const lines = text.split('\n').map((line) => line.trim())
  const at = lines.findIndex((line) => line !== '' && !isAddress(line))
  return at < 0 ? null : { line: at + 1, address: (lines[at] ?? '').slice(0, 60) }
}

/** True for an IPv4 address, an IPv6 address or a CIDR range. */
function isAddress(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const isFour = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(address)
  const isSix = !isFour && URL.canParse(`http://[${address}]/`)
  if (rest.length > 0 || !(isFour || isSix)) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (isFour ? 32 : 128)
}
