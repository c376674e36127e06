import { type FileHandle, mkdir, open, readdir, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BodyMemory } from '../limits/body-memory.ts'

/** The maximum length of one upload, including all its files. */
export const UPLOAD_BYTES_MAX = 512 * 1024 * 1024
/** The space on disk that the uploads of all running calls may use. */
const SPOOLED_BYTES_MAX = 4 * 1024 * 1024 * 1024
/** An upload is refused if less than this is left on the disk, which the event store may share. */
const FREE_BYTES_MIN = 1024 * 1024 * 1024
/** A file of a running process is removed at once, so an older file belongs to a dead process. */
const LEFT_OVER_MS = 60_000

/**
 * The folder for the files of uploads, below `DATA_DIR`. A file is removed from the folder as soon
 * as it is open, so that nothing is left if the process dies.
 */
export class SpoolFolder {
  /** Counts the bytes on disk, in total and for each user. */
  readonly space: BodyMemory
  private readonly preferred: string
  private opening: Promise<string> | null = null
  private names = 0

  constructor(dataDir: string, bytesMax = SPOOLED_BYTES_MAX) {
    this.preferred = join(dataDir, 'uploads')
    this.space = new BodyMemory(bytesMax)
  }

  /** Creates a file without a name. Throws if the disk is full or can't be written. */
  async create(): Promise<FileHandle> {
    const folder = await this.folder()
    this.names += 1
    const path = join(folder, `${process.pid}-${Date.now()}-${this.names}`)
    const handle = await open(path, 'wx+', 0o600)
    await rm(path)
    return handle
  }

  /** Reports whether the disk has room for a file of this length. */
  async hasRoomFor(bytes: number): Promise<boolean> {
    const { bavail, bsize } = await statfs(await this.folder())
    return bavail * bsize - bytes > FREE_BYTES_MIN
  }

  /** Creates the folder and removes what earlier processes left behind. */
  private folder(): Promise<string> {
    this.opening ??= openFolder(this.preferred).catch(() =>
      openFolder(join(tmpdir(), `tallygate-uploads-${process.getuid?.() ?? 0}`)),
    )
    // A failure, such as a full disk, may be temporary.
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
