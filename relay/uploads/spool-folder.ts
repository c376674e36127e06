import { type FileHandle, mkdir, open, readdir, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BodyMemory } from '../limits/body-memory.ts'

/** The maximum length of one upload in bytes, including all its files. */
export const UPLOAD_BYTES_MAX = 512 * 1024 * 1024
/** The maximum number of bytes on disk that the uploads of all running calls may use together. */
const SPOOLED_BYTES_MAX = 4 * 1024 * 1024 * 1024
/**
 * The number of bytes that each upload must leave free on the disk. The event store may be on the
 * same disk.
 */
const FREE_BYTES_MIN = 1024 * 1024 * 1024
/**
 * The time after which a file that still has a name counts as left by a dead process. A running
 * process removes the name of a file right after it has created the file.
 */
const LEFT_OVER_MS = 60_000

/**
 * The folder for the files of uploads, below `DATA_DIR`. A file is removed from the folder as soon
 * as it is open and is then used only by its open handle. The disk space is therefore freed even if
 * the process dies.
 */
export class SpoolFolder {
  /** Counts the bytes that uploads use on disk, in total and for each user. */
  readonly space: BodyMemory
  private readonly preferred: string
  private opening: Promise<string> | null = null
  private names = 0

  constructor(dataDir: string, bytesMax = SPOOLED_BYTES_MAX) {
    this.preferred = join(dataDir, 'uploads')
    this.space = new BodyMemory(bytesMax)
  }

  /**
   * Creates a file, removes its name from the folder and returns the open handle. Throws if the
   * disk is full or can't be written.
   */
  async create(): Promise<FileHandle> {
    const folder = await this.folder()
    this.names += 1
    const path = join(folder, `${process.pid}-${Date.now()}-${this.names}`)
    const handle = await open(path, 'wx+', 0o600)
    await rm(path)
    return handle
  }

  /**
   * Reports whether more than `FREE_BYTES_MIN` bytes would remain free on the disk after a file of
   * this length in bytes.
   */
  async hasRoomFor(bytes: number): Promise<boolean> {
    const { bavail, bsize } = await statfs(await this.folder())
    return bavail * bsize - bytes > FREE_BYTES_MIN
  }

  /**
   * Returns the path of the folder. The first call creates the folder and removes files that
   * earlier processes have left. If `DATA_DIR` can't be used, the folder is in the system's folder
   * for temporary files.
   */
  private folder(): Promise<string> {
    this.opening ??= openFolder(this.preferred).catch(() =>
      openFolder(join(tmpdir(), `tallygate-uploads-${process.getuid?.() ?? 0}`)),
    )
    // The cause of a failure, such as a full disk, may be temporary, so the next call tries again.
    this.opening.catch(() => {
      this.opening = null
    })
    return this.opening
  }
}

async function openFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > LEFT_OVER_MS) await rm(path, { force: true })
  }
  return folder
}
