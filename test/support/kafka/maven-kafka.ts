import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export const KAFKA_VERSION = '4.1.0'
/** The time limit for the first download, which is about 60 MB. */
const FETCH_MS_MAX = 240_000

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tallygate</groupId><artifactId>kafka</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId>
    <version>${KAFKA_VERSION}</version>
  </dependency></dependencies>
</project>
`

/**
 * Returns the folder with Kafka's jars, downloaded from Maven Central once per machine. Returns
 * what is missing without Java or if the download fails.
 */
export async function mavenKafka(): Promise<{ libs: string } | { missing: string }> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const libs = join(cache, 'tallygate', `kafka-${KAFKA_VERSION}`)
  if (!(await answers('java', '-version'))) return { missing: 'no java' }
  if (existsSync(libs)) return { libs }
  if (!(await answers('mvn', '--version'))) return { missing: 'no mvn' }
  try {
    await fetchInto(libs)
    return { libs }
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
    return { missing: `mvn could not fetch Kafka (${reason})` }
  }
}

export const answers = (command: string, ...args: string[]): Promise<boolean> =>
  run(command, args, { timeout: 20_000 }).then(
    () => true,
    () => false,
  )

/** Renames a temporary folder, so that other processes see only a complete folder. */
async function fetchInto(libs: string): Promise<void> {
  await mkdir(dirname(libs), { recursive: true })
  const working = await mkdtemp(`${libs}-`)
  try {
    await writeFile(join(working, 'pom.xml'), POM)
    const args = ['-q', '-B', 'dependency:copy-dependencies', '-DincludeScope=runtime']
    await run('mvn', [...args, '-DoutputDirectory=libs'], { cwd: working, timeout: FETCH_MS_MAX })
    await rename(join(working, 'libs'), libs).catch((error: unknown) => {
      if (!existsSync(libs)) throw error
    })
  } finally {
    await rm(working, { recursive: true, force: true })
  }
}
