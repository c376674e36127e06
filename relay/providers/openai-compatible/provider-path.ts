const VERSION = /^v\d+$/
const CHAT_END = '/chat/completions'

/**
 * The path of a call below an address. An address that ends in a version is the root of the API
 * itself (`https://api.example.com/v4`), so that the path goes on behind its own version; and one
 * that ends in `/chat/completions` is the whole address of a chat call.
 */
export function pathBelow(address: string, path: string): string {
  const root = rootOf(address)
  const last = root.slice(root.lastIndexOf('/') + 1)
  if (!isWhole(address) && !VERSION.test(last)) return `${root}${path}`
  return `${root}${tailBehind(path, last)}`
}

/** Beside the API's versions: where providers keep their accounts. */
export function pathBeside(address: string, path: string): string {
  if (path.split('/').some((segment) => VERSION.test(segment))) return pathBelow(address, path)
  const root = rootOf(address)
  const at = root.lastIndexOf('/')
  return `${VERSION.test(root.slice(at + 1)) ? root.slice(0, at) : root}${path}`
}

const isWhole = (address: string): boolean => withoutSlashes(address).endsWith(CHAT_END)

function rootOf(address: string): string {
  const bare = withoutSlashes(address)
  return isWhole(bare) ? bare.slice(0, -CHAT_END.length) : bare
}

const withoutSlashes = (address: string): string => address.replace(/\/+$/, '')

/** What follows the version that the address has, or else the path's own last one. */
function tailBehind(path: string, version: string): string {
  const segments = path.split('/')
  const same = segments.indexOf(version)
  const at = same >= 0 ? same : segments.findLastIndex((segment) => VERSION.test(segment))
  if (at >= 0) return `/${segments.slice(at + 1).join('/')}`
  // Without a version of its own it may still be a longer form of a chat's path.
  return path.includes(CHAT_END) ? CHAT_END : path
}
