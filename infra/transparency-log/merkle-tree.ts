import { createHash } from 'node:crypto'

/** The number of hashes in a full tile. Tiles are 8 levels high, as in C2SP tlog-tiles. */
export const TILE_WIDTH = 256
const TILE_HEIGHT = 8
const NODE = Buffer.of(1)

/** Returns the root of a tree without leaves (RFC 6962, section 2.1). */
export const emptyRoot = (): Buffer => createHash('sha256').digest()

export const nodeHash = (left: Buffer, right: Buffer): Buffer =>
  createHash('sha256').update(NODE).update(left).update(right).digest()

/**
 * Returns the root of the subtree above adjacent hashes. The number of hashes must be a power of
 * two.
 */
export function rootOfHashes(hashes: readonly Buffer[]): Buffer {
  let row = hashes
  while (row.length > 1) {
    const above: Buffer[] = []
    for (let i = 0; i < row.length; i += 2)
      above.push(nodeHash(row[i] as Buffer, row[i + 1] as Buffer))
    row = above
  }
  return row[0] as Buffer
}

/**
 * Reads the hash with this index, counted from the left, in a level of tiles. A hash in level 0 is
 * a leaf hash. A hash in level `n` is the root of a full tile in level `n - 1`.
 */
export type HashReader = (level: number, index: number) => Promise<Buffer>

/** Computes the roots and proofs of RFC 6962 from the hashes in the tiles. */
export class TileTree {
  private readonly read: HashReader

  constructor(read: HashReader) {
    this.read = read
  }

  /** Returns the root of the first `size` leaves. */
  root(size: number): Promise<Buffer> {
    return size === 0 ? Promise.resolve(emptyRoot()) : this.hashOf(0, size)
  }

  /**
   * Returns the proof that the leaf `index` is in the tree of the first `size` leaves: its audit
   * path (section 2.1.1).
   */
  async inclusionProof(index: number, size: number): Promise<Buffer[]> {
    if (index < 0 || index >= size) throw new RangeError('the leaf is not in the tree')
    return this.path(index, 0, size)
  }

  /**
   * Returns the proof that the tree of `size` leaves begins with the tree of `before` leaves
   * (2.1.2).
   */
  async consistencyProof(before: number, size: number): Promise<Buffer[]> {
    if (before < 0 || before > size) throw new RangeError('the earlier tree is larger')
    if (before === 0 || before === size) return []
    return this.subproof(before, 0, size, true)
  }

  private async path(index: number, from: number, size: number): Promise<Buffer[]> {
    if (size === 1) return []
    const half = largestPowerBelow(size)
    if (index - from < half) {
      const path = await this.path(index, from, half)
      return [...path, await this.hashOf(from + half, size - half)]
    }
    const path = await this.path(index, from + half, size - half)
    return [...path, await this.hashOf(from, half)]
  }

  private async subproof(
    before: number,
    from: number,
    size: number,
    isWhole: boolean,
  ): Promise<Buffer[]> {
    if (before === size) return isWhole ? [] : [await this.hashOf(from, size)]
    const half = largestPowerBelow(size)
    if (before <= half) {
      const proof = await this.subproof(before, from, half, isWhole)
      return [...proof, await this.hashOf(from + half, size - half)]
    }
    const proof = await this.subproof(before - half, from + half, size - half, false)
    return [...proof, await this.hashOf(from, half)]
  }

  /** Returns the root of the subtree of `size` leaves whose first leaf is `from`. */
  private async hashOf(from: number, size: number): Promise<Buffer> {
    const half = size === 1 ? 1 : largestPowerBelow(size)
    if (half * 2 === size || size === 1) return this.subtree(from, size)
    return nodeHash(await this.hashOf(from, half), await this.hashOf(from + half, size - half))
  }

  /**
   * Returns the root of the complete subtree of `size` leaves whose first leaf is `from`. `size`
   * must be a power of two.
   */
  private async subtree(from: number, size: number): Promise<Buffer> {
    const height = Math.round(Math.log2(size))
    const level = Math.floor(height / TILE_HEIGHT)
    const leavesPerHash = TILE_WIDTH ** level
    const count = size / leavesPerHash
    const first = from / leavesPerHash
    const hashes: Buffer[] = []
    for (let i = 0; i < count; i++) hashes.push(await this.read(level, first + i))
    return rootOfHashes(hashes)
  }
}

/** Returns the largest power of two below `size`. `size` must be at least 2. */
function largestPowerBelow(size: number): number {
  let power = 1
  while (power * 2 < size) power *= 2
  return power
}

/** Reports whether the proof leads from the leaf to the root (RFC 9162, section 2.1.3.2). */
export function isIncluded(
  { index, size, root }: { readonly index: number; readonly size: number; readonly root: Buffer },
  leafHash: Buffer,
  proof: readonly Buffer[],
): boolean {
  if (index < 0 || index >= size) return false
  let [place, last, hash] = [BigInt(index), BigInt(size - 1), leafHash]
  for (const sibling of proof) {
    if (last === 0n) return false
    if ((place & 1n) === 1n || place === last) {
      hash = nodeHash(sibling, hash)
      while ((place & 1n) === 0n && place !== 0n) [place, last] = [place >> 1n, last >> 1n]
    } else {
      hash = nodeHash(hash, sibling)
    }
    ;[place, last] = [place >> 1n, last >> 1n]
  }
  return last === 0n && hash.equals(root)
}

type Tree = { readonly size: number; readonly root: Buffer }

/**
 * Reports whether the proof shows that the tree `after` begins with the tree `before` (RFC 9162,
 * section 2.1.4.2).
 */
export function isConsistent(before: Tree, after: Tree, proof: readonly Buffer[]): boolean {
  if (before.size > after.size) return false
  if (before.size === after.size) return proof.length === 0 && before.root.equals(after.root)
  if (before.size === 0) return proof.length === 0 && before.root.equals(emptyRoot())
  let [place, last] = [BigInt(before.size - 1), BigInt(after.size - 1)]
  while ((place & 1n) === 1n) [place, last] = [place >> 1n, last >> 1n]
  const path = place === 0n ? [before.root, ...proof] : [...proof]
  const start = path.shift()
  if (start === undefined) return false
  let [older, newer] = [start, start]
  for (const sibling of path) {
    if (last === 0n) return false
    if ((place & 1n) === 1n || place === last) {
      older = nodeHash(sibling, older)
      newer = nodeHash(sibling, newer)
      while ((place & 1n) === 0n && place !== 0n) [place, last] = [place >> 1n, last >> 1n]
    } else {
      newer = nodeHash(newer, sibling)
    }
    ;[place, last] = [place >> 1n, last >> 1n]
  }
  return last === 0n && older.equals(before.root) && newer.equals(after.root)
}
