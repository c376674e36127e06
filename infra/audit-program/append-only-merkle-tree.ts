import { createHash } from 'node:crypto'

/**
 * An RFC 6962 Merkle tree to which leaves are appended. The tree keeps only the roots of its
 * complete subtrees, from left to right. There are at most 53 of these roots: one for each 1 in the
 * binary form of `size`.
 */
export class GrowingTree {
  size: number
  private readonly subtrees: Buffer[]

  /** Continues a tree of `size` leaves whose complete subtrees have the roots `subtrees`. */
  constructor(size = 0, subtrees: readonly Buffer[] = []) {
    if (subtrees.length !== subtreeCount(size)) throw new Error('the subtrees do not fit the size')
    this.size = size
    this.subtrees = [...subtrees]
  }

  append(leafHash: Buffer): void {
    let hash = leafHash
    for (let rest = this.size; rest % 2 === 1; rest = Math.floor(rest / 2)) {
      hash = nodeHash(this.subtrees.pop() as Buffer, hash)
    }
    this.subtrees.push(hash)
    this.size += 1
  }

  root(): Buffer {
    const right = this.subtrees.at(-1)
    if (right === undefined) return createHash('sha256').digest()
    return this.subtrees.slice(0, -1).reduceRight((hash, left) => nodeHash(left, hash), right)
  }

  /** Returns the roots of the complete subtrees. A new `GrowingTree` can continue from them. */
  frontier(): readonly Buffer[] {
    return [...this.subtrees]
  }
}

const NODE = Buffer.of(1)

const nodeHash = (left: Buffer, right: Buffer): Buffer =>
  createHash('sha256').update(NODE).update(left).update(right).digest()

/**
 * Returns the number of complete subtrees of a tree with `size` leaves, which is the number of ones
 * in the binary form of `size`.
 */
function subtreeCount(size: number): number {
  let count = 0
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) count += rest % 2
  return count
}
