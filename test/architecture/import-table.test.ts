import { describe, expect, it } from 'vitest'
import { importCycles } from './import-cycles.ts'
import { importsOf, type SourceFile, sourceFiles } from './source-tree.ts'

type Row = { readonly from: RegExp; readonly may: readonly RegExp[]; readonly name: string }

const CONTRACT = /^(write-api|read-api)\/contract\//
const SHARED = /^domain\/shared\//

/** The table of architecture: the first row that fits a file is the one that holds for it. */
const TABLE: readonly Row[] = [
  {
    name: 'contracts: the schema library and shared shapes',
    from: CONTRACT,
    may: [/^npm:typebox/, SHARED, CONTRACT],
  },
  {
    name: 'domain: pure',
    from: /^domain\//,
    may: [/^domain\//],
  },
  {
    name: 'console: the contracts and browser packages',
    from: /^console\//,
    may: [/^console\//, CONTRACT, /^npm:(?!node:|fastify|pg$|slonik|undici|@fastify)/],
  },
  {
    name: 'infra/start and its neighbours: the parts, started',
    from: /^infra\/(start|demo\/demo|dev)\.ts$/,
    may: [
      /^infra\//,
      /^(write-api\/register-write-api-and-start-jobs|read-api\/register-read-api|relay\/(start-relay|served-channel-types))\.ts$/,
      /^projections\//,
      SHARED,
      /^npm:/,
    ],
  },
  {
    name: 'infra/audit-program: the rules of the events, the read models',
    from: /^infra\/audit-program\//,
    may: [/^infra\//, /^projections\//, /^domain\//, /^npm:/],
  },
  {
    name: 'infra: shared shapes, no aggregate',
    from: /^infra\//,
    may: [/^infra\//, SHARED, /^npm:/],
  },
  {
    name: 'projections: events, pricing, contracts, infra',
    from: /^projections\//,
    may: [
      /^projections\//,
      /^domain\/[^/]+\/events\.ts$/,
      SHARED,
      /^domain\/pricing\//,
      CONTRACT,
      /^infra\//,
      /^npm:/,
    ],
  },
  {
    name: 'write-api: domain, infra, look-ups',
    from: /^write-api\//,
    may: [
      /^write-api\//,
      /^domain\//,
      /^infra\//,
      /^projections\/([^/]+\/query|projection-names)\.ts$/,
      CONTRACT,
      /^npm:/,
    ],
  },
  {
    name: 'relay: domain, infra, look-ups',
    from: /^relay\//,
    may: [
      /^relay\//,
      /^domain\//,
      /^infra\//,
      /^projections\/[^/]+\/query\.ts$/,
      CONTRACT,
      /^npm:/,
    ],
  },
  {
    name: 'read-api/audit: as read-api, and the rules by which it explains recorded events',
    from: /^read-api\/audit\//,
    may: [
      /^read-api\//,
      /^projections\/([^/]+\/query|projection-names)\.ts$/,
      /^domain\//,
      /^infra\//,
      /^npm:/,
    ],
  },
  {
    name: 'read-api: look-ups, shared shapes, built-in prices, the options’ one schema, infra',
    from: /^read-api\//,
    may: [
      /^read-api\//,
      /^projections\/([^/]+\/query|projection-names)\.ts$/,
      SHARED,
      /^domain\/audit\//,
      /^domain\/pricing\/(built-in-prices|openrouter-aliases|output-limits-by-model|video-prices)\.ts$/,
      /^domain\/options\/(option-registry|option-definition|option-type)\.ts$/,
      /^infra\//,
      CONTRACT,
      /^npm:/,
    ],
  },
  { name: 'test: everything', from: /^test\//, may: [/./] },
]

const files = sourceFiles()

const brokenRows = (file: SourceFile): string[] => {
  const row = TABLE.find((candidate) => candidate.from.test(file.path))
  if (row === undefined) return [`${file.path}: no row of the table fits`]
  return importsOf(file)
    .filter(({ target }) => !row.may.some((pattern) => pattern.test(target)))
    .filter(({ target }) => !target.endsWith('.css'))
    .map(({ target }) => `${file.path} → ${target} (row "${row.name}")`)
}

describe('the import table', () => {
  it('sees the whole tree', () => {
    expect(files.length).toBeGreaterThan(50)
    expect(files.flatMap((file) => importsOf(file)).length).toBeGreaterThan(100)
  })

  it('holds for every file', () => {
    expect(files.flatMap(brokenRows)).toEqual([])
  })

  it('catches a broken row', () => {
    const intruder = { path: 'domain/accounts/x.ts', text: "import pg from 'pg'\n" }
    expect(brokenRows(intruder)).toHaveLength(1)
  })

  it('keeps an aggregate out of another, but for its events', () => {
    const own = /^domain\/(?!shared|pricing|routing)([^/]+)\//
    const strangers = files.flatMap((file) => {
      const aggregate = own.exec(file.path)?.[1]
      if (aggregate === undefined) return []
      return importsOf(file)
        .filter(({ target }) => {
          const other = own.exec(target)?.[1]
          return other !== undefined && other !== aggregate && !target.endsWith('/events.ts')
        })
        .map(({ target }) => `${file.path} → ${target}`)
    })
    expect(strangers).toEqual([])
  })

  it('keeps features of the console out of each other', () => {
    const feature = /^console\/features\/([^/]+)\//
    const siblings = files.flatMap((file) => {
      const own = feature.exec(file.path)?.[1]
      if (own === undefined) return []
      return importsOf(file)
        .filter(({ target }) => (feature.exec(target)?.[1] ?? own) !== own)
        .map(({ target }) => `${file.path} → ${target}`)
    })
    expect(siblings).toEqual([])
  })
})

describe('import cycles', () => {
  it('there are none, imports of types included', () => {
    expect(importCycles(files)).toEqual([])
  })
})
