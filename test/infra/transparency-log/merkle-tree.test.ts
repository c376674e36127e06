import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  emptyRoot,
  isConsistent,
  isIncluded,
  nodeHash,
  rootOfHashes,
  TILE_WIDTH,
  TileTree,
} from '#infra/transparency-log/merkle-tree.ts'
import { parseTilePath } from '#infra/transparency-log/read-checkpoints-and-tiles.ts'

const sha256 = (...parts: readonly Uint8Array[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()
const leafOf = (text: string | Buffer): Buffer => sha256(Buffer.of(0), Buffer.from(text))

/** The root by the definition of RFC 6962, section 2.1. */
function naiveRoot(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return sha256()
  if (leaves.length === 1) return leaves[0] as Buffer
  let half = 1
  while (half * 2 < leaves.length) half *= 2
  return nodeHash(naiveRoot(leaves.slice(0, half)), naiveRoot(leaves.slice(half)))
}

/** A tree whose tiles are computed from all leaves. */
function treeOf(leaves: readonly Buffer[]): TileTree {
  const levels: Buffer[][] = [[...leaves]]
  for (let level = 0; (levels[level] as Buffer[]).length >= TILE_WIDTH; level++) {
    const row = levels[level] as Buffer[]
    const full = Math.floor(row.length / TILE_WIDTH)
    levels.push(
      Array.from({ length: full }, (_, i) =>
        rootOfHashes(row.slice(i * TILE_WIDTH, (i + 1) * TILE_WIDTH)),
      ),
    )
  }
  return new TileTree(async (level, index) => {
    const hash = levels[level]?.[index]
    if (hash === undefined) throw new Error(`no hash ${level}/${index}`)
    return hash
  })
}

const LEAVES = Array.from({ length: 70_000 }, (_, i) => leafOf(`event ${i}`))
const SIZES = [1, 2, 3, 7, 8, 255, 256, 257, 511, 512, 1_000, 65_535, 65_536, 65_537, 70_000]

describe('the tree', () => {
  it('has the roots of the test vectors of RFC 6962 implementations', async () => {
    const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657']
    const last = '606162636465666768696a6b6c6d6e6f'
    const leaves = [...inputs, last].map((hex) => leafOf(Buffer.from(hex, 'hex')))
    const tree = treeOf(leaves)
    const roots = [
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
      'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    ]
    for (const [size, root] of roots.entries()) {
      expect((await tree.root(size)).toString('hex')).toBe(root)
    }
    const whole = '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328'
    expect((await tree.root(8)).toString('hex')).toBe(whole)
    expect(emptyRoot().toString('hex')).toBe(roots[0])
  })

  it('has the root of the definition at every size', async () => {
    const tree = treeOf(LEAVES)
    for (const size of SIZES) {
      expect(await tree.root(size)).toEqual(naiveRoot(LEAVES.slice(0, size)))
    }
  })
})

describe('a proof of inclusion', () => {
  it('leads to the root of its size, and no other leaf, place or hash does', async () => {
    const tree = treeOf(LEAVES)
    for (const size of SIZES) {
      const root = await tree.root(size)
      for (const index of new Set([0, Math.floor(size / 3), size - 1])) {
        const proof = await tree.inclusionProof(index, size)
        const leaf = LEAVES[index] as Buffer
        const at = { index, size, root }
        expect(isIncluded(at, leaf, proof)).toBe(true)
        expect(isIncluded(at, leafOf('another event'), proof)).toBe(false)
        expect(isIncluded({ ...at, root: leaf }, leaf, [...proof, leaf])).toBe(false)
        if (size > 1) {
          expect(isIncluded({ ...at, index: index === 0 ? 1 : index - 1 }, leaf, proof)).toBe(false)
          expect(isIncluded(at, leaf, proof.slice(1))).toBe(false)
        }
        expect(isIncluded({ ...at, index: size }, leaf, proof)).toBe(false)
      }
    }
    await expect(tree.inclusionProof(5, 5)).rejects.toThrow(RangeError)
  })
})

describe('a proof of consistency', () => {
  it('connects two sizes of one history, and not of two histories', async () => {
    const tree = treeOf(LEAVES)
    const other = treeOf([leafOf('rewritten'), ...LEAVES.slice(1, 1_000)])
    for (const size of SIZES) {
      const after = { size, root: await tree.root(size) }
      for (const before of SIZES.filter((smaller) => smaller <= size)) {
        const proof = await tree.consistencyProof(before, size)
        const earlier = { size: before, root: await tree.root(before) }
        expect(isConsistent(earlier, after, proof), `${before} to ${size}`).toBe(true)
        expect(isConsistent(after, earlier, proof)).toBe(before === size)
        if (before > 1_000) continue
        const rewritten = { size: before, root: await other.root(before) }
        expect(isConsistent(rewritten, after, proof)).toBe(false)
      }
    }
    expect(isConsistent({ size: 0, root: emptyRoot() }, { size: 1, root: emptyRoot() }, [])).toBe(
      true,
    )
  })
})

describe('the path of a tile', () => {
  it('has one canonical form', () => {
    expect(parseTilePath('0/000')).toEqual({ level: 0, index: 0, width: 256 })
    expect(parseTilePath('1/x001/x234/067')).toEqual({ level: 1, index: 1_234_067, width: 256 })
    expect(parseTilePath('entries/005.p/12')).toEqual({ level: 'entries', index: 5, width: 12 })
    const wrong = [
      '0/1',
      '00/001',
      '0/x000/001',
      '0/001.p/256',
      '0/001.p/0',
      '64/000',
      '0/000/',
      '-1/000',
    ]
    for (const path of [...wrong, `0/${'x999/'.repeat(9)}999`])
      expect(parseTilePath(path)).toBe(null)
  })
})
