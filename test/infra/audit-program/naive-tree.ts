import { createHash } from 'node:crypto'

const nodeHash = (left: Buffer, right: Buffer): Buffer =>
  createHash('sha256').update(Buffer.of(1)).update(left).update(right).digest()

/** The largest power of two below `size`. */
const splitOf = (size: number): number => 2 ** Math.ceil(Math.log2(size) - 1)

/** The definitions of RFC 6962, section 2.1, as they are written there. */
export function rootOf(leaves: readonly Buffer[]): Buffer {
  const [first] = leaves
  if (first === undefined) return createHash('sha256').digest()
  if (leaves.length === 1) return first
  const split = splitOf(leaves.length)
  return nodeHash(rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)))
}

export function inclusionPath(index: number, leaves: readonly Buffer[]): Buffer[] {
  if (leaves.length <= 1) return []
  const split = splitOf(leaves.length)
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)]
  return index < split
    ? [...inclusionPath(index, left), rootOf(right)]
    : [...inclusionPath(index - split, right), rootOf(left)]
}

export const consistencyPath = (size: number, leaves: readonly Buffer[]): Buffer[] =>
  size === leaves.length || size === 0 ? [] : subproof(size, leaves, true)

function subproof(size: number, leaves: readonly Buffer[], isWhole: boolean): Buffer[] {
  if (size === leaves.length) return isWhole ? [] : [rootOf(leaves)]
  const split = splitOf(leaves.length)
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)]
  return size <= split
    ? [...subproof(size, left, isWhole), rootOf(right)]
    : [...subproof(size - split, right, false), rootOf(left)]
}
