import { isIP } from 'node:net'
import { invalidField } from '#infra/http/faults.ts'

/** The addresses and networks in it, one a line. Throws for the first line that is neither. */
export function addressLines(text: string): readonly string[] {
  const lines: string[] = []
  for (const [index, whole] of text.split(/\r\n|\r|\n/).entries()) {
    for (const part of whole.split(',')) {
      const line = part.trim()
      if (line === '') continue
      if (!isAddressOrNetwork(line)) throw noAddress(index + 1, line)
      lines.push(line)
    }
  }
  return lines
}

function noAddress(line: number, text: string) {
  const shown = [...text].slice(0, 60).join('')
  return invalidField('allow_ips', {
    zh: `第 ${line} 行“${shown}”不是合法的 IP 地址或网段`,
    en: `line ${line}, “${shown}”, is no IP address or network`,
  })
}

/** NOTE: an address with a zone (`fe80::1%eth0`) means another thing on each machine. */
function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = address.includes('%') ? 0 : isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}
