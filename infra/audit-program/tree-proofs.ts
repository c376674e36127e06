import { createHash } from 'node:crypto'

const NODE = Buffer.of(1)

const nodeHash = (left: Buffer, right: Buffer): Buffer =>
  createHash('sha256').update(NODE).update(left).update(right).digest()

/**
 * Returns the root that an audit path leads to (RFC 9162, section 2.1.3.2). Returns null if the
 * path does not fit the index and the size.
 */
export function rootOfInclusion(
  leafHash: Buffer,
  index: number,
  size: number,
  path: readonly Buffer[],
): Buffer | null {
  if (!isCount(index) || !isCount(size) || index >= size) return null
  let [node, last] = [BigInt(index), BigInt(size - 1)]
  let hash = leafHash
  for (const sibling of path) {
    if (last === 0n) return null
    if ((node & 1n) === 1n || node === last) {
      hash = nodeHash(sibling, hash)
      while ((node & 1n) === 0n && node !== 0n) {
        node >>= 1n
        last >>= 1n
      }
    } else hash = nodeHash(hash, sibling)
    node >>= 1n
    last >>= 1n
  }
  return last === 0n ? hash : null
}

type Tree = { readonly size: number; readonly root: Buffer }

/**
 * Returns whether the proof shows that the leaves of the earlier tree are the first ones of the
 * later tree (RFC 9162, section 2.1.4.2).
 */
export function isConsistent(earlier: Tree, later: Tree, proof: readonly Buffer[]): boolean {
  if (!isCount(earlier.size) || !isCount(later.size) || earlier.size > later.size) return false
  if (earlier.size === later.size) return proof.length === 0 && earlier.root.equals(later.root)
  if (earlier.size === 0) return proof.length === 0
  const size = BigInt(earlier.size)
  const isPower = (size & (size - 1n)) === 0n
  const [first, ...others] = isPower ? [earlier.root, ...proof] : proof
  if (first === undefined) return false
  let [node, last] = [size - 1n, BigInt(later.size) - 1n]
  while ((node & 1n) === 1n) {
    node >>= 1n
    last >>= 1n
  }
  let [before, after] = [first, first]
  for (const hash of others) {
    if (last === 0n) return false
    if ((node & 1n) === 1n || node === last) {
      before = nodeHash(hash, before)
      after = nodeHash(hash, after)
      while ((node & 1n) === 0n && node !== 0n) {
        node >>= 1n
        last >>= 1n
      }
    } else after = nodeHash(after, hash)
    node >>= 1n
    last >>= 1n
  }
  return last === 0n && before.equals(earlier.root) && after.equals(later.root)
}

const isCount = (count: number): boolean => Number.isSafeInteger(count) && count >= 0
