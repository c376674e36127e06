import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '#infra/config/read-config.ts'
import { type WriteFixture, writeFixture } from '#test/write-api/write-fixture.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const DEPLOY = join(ROOT, 'infra/deploy')
const SECRETS: Record<string, string> = {
  SECRET_KEY: Buffer.from(Array.from({ length: 32 }, (_, n) => n)).toString('base64'),
  POSTGRES_PASSWORD: 'postgres-password',
  REDIS_PASSWORD: 'redis-password',
}

type Service = {
  readonly image?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly command?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly stop_grace_period?: string
}
type Compose = { readonly services: Readonly<Record<string, Service>> }

const files = readdirSync(DEPLOY).filter((name) => name.endsWith('.compose.yaml'))
const textOf = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8')
const composes = files.map((name) => ({
  name,
  compose: parse(textOf(name), { merge: true }) as Compose,
}))
const services = composes.flatMap(({ name, compose }) =>
  Object.entries(compose.services).map(([service, its]) => ({ at: `${name} ${service}`, its })),
)
const ours = services.filter(({ its }) => its.image?.startsWith('tallygate:'))

/** Replaces `${NAME:?why}` and `${NAME:-default}` as Docker Compose does. */
const filledIn = (text: string): string =>
  text.replace(/\$\{(\w+):[?-]([^}]*)\}/g, (_all, name: string, otherwise: string) =>
    name in SECRETS ? (SECRETS[name] ?? '') : otherwise,
  )

/** The names of the environment variables that the product reads. */
const configSource = readFileSync(join(ROOT, 'infra/config/read-config.ts'), 'utf8')
const known = new Set([...configSource.matchAll(/read\('(\w+)'\)/g)].map(([, name = '']) => name))

describe('compose files', () => {
  it('exist for the three topologies', () => {
    expect(files).toEqual([
      'cluster.compose.yaml',
      'one-machine.compose.yaml',
      'processes.compose.yaml',
    ])
    expect(known.size).toBeGreaterThan(14)
    expect(ours).toHaveLength(6)
  })

  it.each(ours)('$at: the product can start with its environment', ({ its }) => {
    const environment = Object.entries(its.environment ?? {})
    expect(environment.map(([name]) => name).filter((name) => !known.has(name))).toEqual([])
    const values = environment.map(([name, value]) => [name, filledIn(value)])
    expect(() => readConfig(Object.fromEntries(values))).not.toThrow()
  })

  it.each(services)('$at: has a health check, and an image of one version', ({ its }) => {
    expect(its.healthcheck?.test.length).toBeGreaterThan(1)
    expect(its.image).toMatch(/^[\w./-]+:v?\d+\.\d+(\.\d+)?(-[\w.-]+)?$/)
    expect(its.stop_grace_period ?? '10s').toMatch(/^\d+s$/)
  })

  it('wait until the services that they need are healthy, and name only existing ones', () => {
    for (const { compose } of composes) {
      for (const { depends_on = {} } of Object.values(compose.services)) {
        for (const [name, { condition }] of Object.entries(depends_on)) {
          expect(Object.keys(compose.services)).toContain(name)
          expect(condition).toBe('service_healthy')
        }
      }
    }
  })

  it('contain no secret: each secret comes from the environment file', () => {
    const example = textOf('.env.example')
    for (const name of Object.keys(SECRETS)) expect(example).toMatch(new RegExp(`^${name}=$`, 'm'))
    for (const { at, its } of services) {
      for (const [name, value] of Object.entries(its.environment ?? {})) {
        if (/KEY|PASSWORD|AUTH|TOKEN$/.test(name)) expect(`${at} ${value}`).toMatch(/ \$\{\w+:/)
        expect(`${at} ${value}`).not.toMatch(/:\/\/[^:@/]*:[^$@][^@]*@/)
      }
    }
  })

  it('run every role in some service', () => {
    for (const { name, compose } of composes) {
      const own = Object.values(compose.services).filter(({ image }) =>
        image?.startsWith('tallygate:'),
      )
      const roles = own.flatMap(({ environment }) => [
        ...readConfig({ ROLES: environment?.ROLES }).roles,
      ])
      expect(`${name} ${[...new Set(roles)].sort()}`).toBe(
        `${name} console,projections,read-api,relay,write-api`,
      )
    }
  })

  const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0
  it.for(files)('%s passes docker compose config', (name, { skip }) => {
    if (!hasCompose) skip('docker compose is not installed')
    const checked = spawnSync('docker', ['compose', '-f', join(DEPLOY, name), 'config', '-q'], {
      env: { ...process.env, ...SECRETS },
      encoding: 'utf8',
    })
    expect(checked.stderr).toBe('')
    expect(checked.status).toBe(0)
  })
})

describe('the image', () => {
  const lines = textOf('Dockerfile').split('\n')

  it('runs as an ordinary user, from images of one version, with a health check', () => {
    expect(lines.filter((line) => /^USER /.test(line))).toEqual(['USER node'])
    const bases = lines.filter((line) => /^FROM /.test(line))
    expect(bases.length).toBeGreaterThan(1)
    for (const base of bases) expect(base).toMatch(/^FROM node:\d+\.\d+\.\d+-[\w-]+( AS \w+)?$/)
    expect(lines.some((line) => line.startsWith('HEALTHCHECK '))).toBe(true)
  })

  it('runs the Node version that package.json names', () => {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(lines.filter((line) => /^FROM /.test(line)).join()).toContain(
      `node:${dependencies.node}-`,
    )
  })

  it('has one Node, and a database is healthy when it accepts connections', () => {
    expect(textOf('Dockerfile')).toMatch(/npm ci --omit=dev[^&]*&& rm -rf node_modules\/node /)
    const checks = services.map(({ its }) => its.healthcheck?.test.join(' ') ?? '')
    const asked = checks.filter((check) => check.includes('pg_isready'))
    expect(asked).toHaveLength(2)
    for (const check of asked) expect(check).toContain('pg_isready -h 127.0.0.1 ')
  })

  it('contains every folder that the servers import', () => {
    const copied = lines.flatMap((line) => /^COPY (\S+) \.\/\1$/.exec(line)?.[1] ?? [])
    const { imports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const parts = Object.keys(imports).map((name) => name.slice(1, -2))
    expect(copied.sort()).toEqual(parts.filter((part) => !/console|test/.test(part)).sort())
  })

  it('excludes files that are not part of the product', () => {
    const ignored = textOf('Dockerfile.dockerignore').split('\n')
    for (const path of ['**/node_modules', '**/.env', '**/.data*', '.git']) {
      expect(ignored).toContain(path)
    }
  })
})

describe('the nginx configuration', () => {
  const text = textOf('nginx.conf')
  let fixture: WriteFixture
  beforeAll(async () => {
    fixture = await writeFixture()
  })
  afterAll(() => fixture.close())

  it('sends actions that use GET to the write-api, by name or by folder', () => {
    const acts = fixture.writeRoutes.filter(({ method }) => method === 'GET').map(({ url }) => url)
    expect(acts.length).toBeGreaterThan(0)
    const sent = [...text.matchAll(/location (=?) ?(\/\S+) \{\s+proxy_pass http:\/\/write-api;/g)]
    const isSent = (url: string) =>
      sent.some(([, exact, path = '']) => (exact ? url === path : url.startsWith(path)))
    expect(acts.filter((url) => !isSent(url))).toEqual([])
  })

  it('sends no read route of these folders to the write-api', () => {
    const folders = [...text.matchAll(/location (\/api\/\S+) \{\s+proxy_pass http:\/\/write-api;/g)]
    const read = fixture.readRoutes.filter(({ url }) =>
      folders.some(([, folder = '']) => url.startsWith(folder)),
    )
    expect(folders.length).toBeGreaterThan(0)
    expect(read).toEqual([])
  })

  it('does not buffer streams, and lets the live socket through', () => {
    const location = (path: string) => text.split(`location ${path} {`)[1]?.split('}')[0] ?? ''
    const calls = location('~ ^/((v1|v1beta|pg|download/v1beta)/|(v2/)?rerank$)')
    expect(calls).toContain('proxy_pass http://relay;')
    expect(calls).toContain('proxy_buffering off;')
    // A location with such a line would not inherit the headers of the upgrade.
    expect(calls).not.toContain('proxy_set_header')
    expect(location('= /api/live')).toContain('proxy_pass http://read-api;')
    expect(text).toContain('proxy_set_header Upgrade $http_upgrade;')
  })

  it('answers in the product’s format if a process is down or a body is too large', () => {
    const passing = text.split(/^ {4}location /m).filter((each) => each.includes('proxy_pass '))
    const bare = passing.filter(
      (each) => !/error_page 502 504 = @\w+;\s+error_page 413 = @\w+;/.test(each),
    )
    expect(passing.length).toBeGreaterThan(10)
    expect(bare).toEqual([])
  })

  it('uses only host names that every topology defines', () => {
    const asked = [...text.matchAll(/server ([\w-]+):3000 resolve/g)].map(([, name]) => name)
    expect(asked.sort()).toEqual(['console', 'read-api', 'relay', 'write-api'])
    for (const name of ['processes', 'cluster']) {
      const compose = textOf(`${name}.compose.yaml`)
      const aliases = [...compose.matchAll(/aliases: \[([^\]]*)\]/g)].flatMap(([, list = '']) =>
        list.split(', '),
      )
      const names = [
        ...Object.keys((parse(compose, { merge: true }) as Compose).services),
        ...aliases,
      ]
      expect(asked.filter((part) => part !== undefined && !names.includes(part))).toEqual([])
    }
  })

  const version = /nginx\/(\d+)\.(\d+)\.(\d+)/.exec(spawnSync('nginx', ['-v']).stderr?.toString())
  const number = version?.slice(1).reduce((sum, part) => sum * 1_000 + Number(part), 0) ?? 0
  it('passes nginx -t', ({ skip }) => {
    if (version === null) skip('nginx is not installed')
    if (number < 1_027_003) skip(`nginx ${version?.[0]} can not resolve upstreams: 1.27.3 can`)
    const folder = mkdtempSync(join(tmpdir(), 'tallygate-nginx-'))
    writeFileSync(join(folder, 'nginx.conf'), text)
    const checked = spawnSync('nginx', ['-t', '-p', folder, '-c', 'nginx.conf'], {
      encoding: 'utf8',
    })
    rmSync(folder, { recursive: true, force: true })
    expect(checked.stderr).toContain('test is successful')
  })
})

const hasEngine = spawnSync('docker', ['info'], { timeout: 10_000 }).status === 0

describe('with a Docker engine', () => {
  it('the image is built and becomes healthy', async ({ skip }) => {
    if (!hasEngine) skip('no Docker engine answers')
    const tag = `tallygate:test-${process.pid}`
    const docker = (...parameters: string[]) =>
      spawnSync('docker', parameters, { cwd: ROOT, encoding: 'utf8' })
    const built = docker('build', '-f', 'infra/deploy/Dockerfile', '-t', tag, '.')
    expect(built.status, built.stderr).toBe(0)
    const { stdout } = docker('run', '-d', '--rm', tag)
    const container = stdout.trim()
    try {
      const state = () =>
        docker('inspect', '-f', '{{.State.Health.Status}}', container).stdout.trim()
      await expect.poll(state, { timeout: 120_000, interval: 1_000 }).toBe('healthy')
    } finally {
      docker('rm', '-f', container)
      docker('rmi', tag)
    }
  }, 900_000)
})
