import { randomBytes } from 'node:crypto'
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { cleanEnvironment, type RunAs, runCommand } from './run-command.ts'

/** A Postgres data folder, with what is needed to run it and to reach it. */
export type Cluster = {
  readonly folder: string
  /** In the title of each of its processes, so that they can be told from others. */
  readonly name: string
  readonly password: string
  readonly runAs: RunAs
}

const NOBODY = 65_534
export const USER = 'tallygate'

/** Postgres refuses to run as root: then it runs as the owner of its files, at first nobody. */
export function runAsFor(dataDir: string): RunAs {
  if (process.getuid?.() !== 0) return {}
  const folder = join(dataDir, 'postgres')
  if (!existsSync(folder)) return { uid: NOBODY, gid: NOBODY }
  const { uid, gid } = statSync(folder)
  return uid === 0 ? { uid: NOBODY, gid: NOBODY } : { uid, gid }
}

/**
 * How the server names its own data folder. As root it runs as a user who may not even enter
 * DATA_DIR; its working folder, which we open for it, needs no way there.
 */
export const ownFolder = ({ folder, runAs }: Pick<Cluster, 'folder' | 'runAs'>): string =>
  runAs.uid === undefined ? folder : '/proc/self/cwd'

/** Opens the cluster in `dataDir`, or makes one. A half-made one is thrown away. */
export async function openCluster(
  dataDir: string,
  native: string,
  runAs: RunAs,
  durable: boolean,
): Promise<Cluster> {
  const folder = join(dataDir, 'postgres')
  const secretFile = join(dataDir, 'postgres.json')
  if (existsSync(folder)) {
    return { folder, ...secretsOf(secretFile), runAs: checkedOwner(folder, runAs) }
  }
  // Those of a folder that may only be away, such as a volume that is not mounted, are kept.
  const secrets = existsSync(secretFile) ? secretsOf(secretFile) : makeSecrets(secretFile)
  const unfinished = join(dataDir, 'postgres.unfinished')
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { mode: 0o700 })
  await initialise({ folder: unfinished, ...secrets, runAs }, native, durable)
  renameSync(unfinished, folder)
  return { folder, ...secrets, runAs }
}

function makeSecrets(secretFile: string): { name: string; password: string } {
  const secrets = {
    name: `tallygate-${randomBytes(6).toString('hex')}`,
    password: randomBytes(24).toString('base64url'),
  }
  // Under its name only once it is whole: what a killed start leaves must be readable.
  const unfinished = `${secretFile}.unfinished`
  writeFileSync(unfinished, `${JSON.stringify(secrets)}\n`, { mode: 0o600, flush: true })
  renameSync(unfinished, secretFile)
  return secrets
}

function secretsOf(secretFile: string): { name: string; password: string } {
  try {
    return JSON.parse(readFileSync(secretFile, 'utf8'))
  } catch (error) {
    const fault = `${secretFile}, which holds the database's password, can't be read`
    throw new Error(`${fault}: restore it from where the folder beside it came`, { cause: error })
  }
}

function checkedOwner(folder: string, runAs: RunAs): RunAs {
  const version = versionOf(folder)
  if (version !== '18') {
    throw new Error(`${folder} was made by Postgres ${version}; this one is 18`)
  }
  return runAs
}

function versionOf(folder: string): string {
  try {
    return readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    const owner = `user ${statSync(folder).uid}`
    throw new Error(`${folder} belongs to ${owner}: start as that one, or as root`, {
      cause: error,
    })
  }
}

/** `initdb`: UTF-8 in byte order whatever the machine's locale, checksums, password log-in. */
async function initialise(cluster: Cluster, native: string, durable: boolean): Promise<void> {
  const { folder, password, runAs } = cluster
  const passwordFile = `${folder}.password`
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 })
  if (runAs.uid !== undefined && runAs.gid !== undefined) {
    chownSync(folder, runAs.uid, runAs.gid)
    chownSync(passwordFile, runAs.uid, runAs.gid)
  }
  const passwordHandle = openSync(passwordFile, 'r')
  try {
    const { status, output } = await runCommand(
      join(native, 'bin', 'initdb'),
      [
        ...['-D', ownFolder(cluster), '-U', USER, '-A', 'scram-sha-256', '--data-checksums'],
        // NOTE: as root the file is reached through its open handle, like the folder.
        `--pwfile=${runAs.uid === undefined ? passwordFile : '/proc/self/fd/3'}`,
        ...[
          '--encoding=UTF8',
          '--locale=C',
          '--locale-provider=builtin',
          '--builtin-locale=C.UTF-8',
        ],
        ...(durable ? [] : ['--no-sync']),
      ],
      {
        ...runAs,
        cwd: folder,
        env: cleanEnvironment(),
        stdio: ['ignore', 'pipe', 'pipe', passwordHandle],
      },
    )
    if (status !== 0) throw new Error(`the database could not be made in ${folder}: ${output}`)
  } finally {
    closeSync(passwordHandle)
    rmSync(passwordFile, { force: true })
  }
}
