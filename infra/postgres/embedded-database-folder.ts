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

export type Cluster = {
  readonly folder: string
  /** The cluster name, which is part of the title of each server process. */
  readonly name: string
  readonly password: string
  readonly runAs: RunAs
}

const NOBODY = 65_534
export const USER = 'tallygate'

/**
 * Returns the system user that runs the server. The result is an empty object, which means the
 * current user, unless this process is root. Postgres refuses to run as root, so another user is
 * then needed. This user is the owner of the existing data folder, or `nobody` if root owns the
 * folder or there is no folder yet.
 */
export function runAsFor(dataDir: string): RunAs {
  if (process.getuid?.() !== 0) return {}
  const folder = join(dataDir, 'postgres')
  if (!existsSync(folder)) return { uid: NOBODY, gid: NOBODY }
  const { uid, gid } = statSync(folder)
  return uid === 0 ? { uid: NOBODY, gid: NOBODY } : { uid, gid }
}

/**
 * Returns the path under which the server opens its data folder. If root starts the server as
 * another user, this user may have no access to the folders above the data folder. The path is then
 * a link to the server's working folder, which the server can open without this access.
 */
export const ownFolder = ({ folder, runAs }: Pick<Cluster, 'folder' | 'runAs'>): string =>
  runAs.uid === undefined ? folder : '/proc/self/cwd'

/** Opens or creates the cluster. A cluster whose creation was interrupted is created again. */
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
  // Existing secrets are kept: the data folder may only be missing because its disk is not mounted.
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
  // The file is renamed when it is complete, because a start that is killed must not leave a
  // partial file.
  const unfinished = `${secretFile}.unfinished`
  writeFileSync(unfinished, `${JSON.stringify(secrets)}\n`, { mode: 0o600, flush: true })
  renameSync(unfinished, secretFile)
  return secrets
}

function secretsOf(secretFile: string): { name: string; password: string } {
  try {
    return JSON.parse(readFileSync(secretFile, 'utf8'))
  } catch (error) {
    const reason = `${secretFile}, which holds the database's password, can't be read`
    throw new Error(`${reason}: restore it from the same backup as the folder beside it`, {
      cause: error,
    })
  }
}

function checkedOwner(folder: string, runAs: RunAs): RunAs {
  const version = versionOf(folder)
  if (version !== '18') {
    throw new Error(`${folder} was created by Postgres ${version}; this is Postgres 18`)
  }
  return runAs
}

function versionOf(folder: string): string {
  try {
    return readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    const owner = `user ${statSync(folder).uid}`
    throw new Error(`${folder} belongs to ${owner}: start as that user, or as root`, {
      cause: error,
    })
  }
}

/**
 * Runs `initdb` with UTF-8, checksums and password authentication. Text is sorted by bytes, so that
 * the machine's locale has no effect.
 */
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
        // NOTE: the server's user may be unable to open the path, so an open handle is passed.
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
    if (status !== 0) throw new Error(`the database could not be created in ${folder}: ${output}`)
  } finally {
    closeSync(passwordHandle)
    rmSync(passwordFile, { force: true })
  }
}

/**
 * Returns the address of the embedded Postgres that another process runs in `dataDir`, or null if
 * none is running there. Only a user who can read the data folder can connect.
 */
export function runningServer(dataDir: string): string | null {
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
  if (!existsSync(pidFile)) return null
  const [pid = '', , , port = ''] = readFileSync(pidFile, 'utf8').split('\n')
  if (!isRunning(Number(pid)) || !/^[1-9]\d*$/.test(port.trim())) return null
  const { password } = JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8'))
  return `postgres://${USER}:${password}@127.0.0.1:${port.trim()}/postgres`
}

function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
