import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system of limited size, which a test can fill. */
export type SmallDisk = {
  readonly path: string
  /** Writes a file that uses all the free space. */
  readonly fill: () => void
  readonly free: () => void
  readonly remove: () => void
}

/** Mounts a file system in memory. Returns null if mounting is not permitted. */
export function mountSmallDisk(megabytes: number): SmallDisk | null {
  const folder = mkdtempSync(join(tmpdir(), 'small-disk-'))
  const path = join(folder, 'disk')
  const filling = join(path, 'filling')
  mkdirSync(path)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', path])
  } catch {
    rmSync(folder, { recursive: true })
    return null
  }
  return {
    path,
    fill: () => {
      for (const bytes of [1_048_576, 4_096]) appendUntilFull(filling, Buffer.alloc(bytes))
    },
    free: () => rmSync(filling),
    remove: () => {
      execFileSync('umount', [path])
      rmSync(folder, { recursive: true })
    },
  }
}

function appendUntilFull(file: string, bytes: Buffer): void {
  for (;;) {
    try {
      appendFileSync(file, bytes)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return
      throw error
    }
  }
}
