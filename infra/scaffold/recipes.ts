import {
  addImport,
  addToBlock,
  apiPath,
  type Change,
  camelCase,
  inOrder,
  pascalCase,
  sentenceCase,
} from './file-edits.ts'

/** The changes of a recipe, and the steps that the developer must do by hand. */
export type Scaffold = { readonly changes: readonly Change[]; readonly next: readonly string[] }

export type Recipe = {
  readonly usage: string
  /** Matches the command's argument. The groups of this pattern are passed to `make`. */
  readonly pattern: RegExp
  readonly make: (...groups: string[]) => Scaffold
}

/**
 * The beginnings of import paths in the templates. These beginnings are constants, because an
 * architecture test would treat complete imports in the templates as imports of this file.
 */
const CONSOLE_UI = '#console/ui'
const READ_CONTRACT = '#read-api/contract'

const NAME = '([a-z][a-z0-9]*(?:-[a-z0-9]+)*)'

const action = (resource = '', name = ''): Scaffold => {
  const camel = camelCase(name)
  const url = apiPath(resource, name)
  return {
    changes: [
      {
        path: `write-api/${resource}/${name}.ts`,
        create: `import Type from 'typebox'
import { onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { done } from '#infra/http/response-envelope.ts'
import { Done } from '${READ_CONTRACT}/response-envelope.ts'
import type { Action } from '../action.ts'

const ${pascalCase(name)} = Type.Object({ id: Type.Integer({ minimum: 1 }) })

/**
 * POST ${url}: executes one command of the domain.
 *
 * Pass the command and \`contextOf(deps, request)\` to \`deps.core.actors.handle\`. Await
 * \`waitUntilVisible\` before the response, so that the console can read the result immediately.
 */
export const ${camel}: Action = (api, deps) => {
  api.post(
    '${url}',
    {
      onRequest: onlyUser,
      schema: {
        summary: '${sentenceCase(name)}',
        body: ${pascalCase(name)},
        response: { 200: Done },
      },
    },
    async (request) => {
      const { userId } = principalOf(request)
      deps.core.log.debug({ userId, id: request.body.id }, '${sentenceCase(name)}')
      return done()
    },
  )
}
`,
      },
      {
        path: 'write-api/register-write-api-and-start-jobs.ts',
        edit: inOrder(
          addToBlock(/const ACTIONS: readonly Action\[\] = \[/, `${camel},`),
          addImport(`import { ${camel} } from './${resource}/${name}.ts'`),
        ),
      },
      {
        path: 'test/write-api/authorisation.test.ts',
        edit: addToBlock(/const MATRIX: .* = \{/, `'POST ${url}': 'user',`),
      },
      {
        path: `test/write-api/${name}.test.ts`,
        create: `import { afterAll, beforeAll, expect, it } from 'vitest'
import { type SeededFixture, seededFixture } from './write-fixture.ts'

let fixture: SeededFixture

beforeAll(async () => {
  fixture = await seededFixture()
})
afterAll(() => fixture.close())

it('is refused without a login', async () => {
  expect((await fixture.anybody('POST', '${url}', { body: { id: 1 } })).status).toBe(401)
})

it('is done for a user', async () => {
  const answer = await fixture.user.call('POST', '${url}', { body: { id: 1 } })
  expect(answer).toMatchObject({ status: 200, success: true })
})
`,
      },
    ],
    next: [
      `If the console calls the route, move the schema to a row of a table in write-api/contract/.`,
      `Send the command of the domain from write-api/${resource}/${name}.ts.`,
      `Throw errors of the catalogue in write-api/${resource}/; a new code gets a row there.`,
    ],
  }
}

const question = (area = '', name = ''): Scaffold => {
  const camel = camelCase(name)
  const url = apiPath(area, name)
  return {
    changes: [
      {
        path: `read-api/${area}/${name}.ts`,
        create: `import Type from 'typebox'
import { onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { success } from '#infra/http/response-envelope.ts'
import { Envelope } from '../contract/response-envelope.ts'
import { type App, type ReadDeps, upToDate } from '../read-dependencies-and-query-parameters.ts'

const ${pascalCase(name)} = Type.Object({ user_id: Type.Integer() })

/**
 * GET ${url}: returns data of one read model.
 *
 * The data comes from the \`query.ts\` of its projection.
 */
export function ${camel}(app: App, deps: ReadDeps): void {
  app.get(
    '${url}',
    {
      schema: {
        summary: '${sentenceCase(name)}',
        response: { 200: Envelope(${pascalCase(name)}) },
      },
      onRequest: onlyUser,
      preHandler: upToDate(deps, 'users'),
    },
    async (request) => success({ user_id: principalOf(request).userId }),
  )
}
`,
      },
      {
        path: 'read-api/register-read-api.ts',
        edit: inOrder(
          addToBlock(/const ROUTES = \[/, `${camel},`),
          addImport(`import { ${camel} } from './${area}/${name}.ts'`),
        ),
      },
      {
        path: 'test/read-api/authorisation.test.ts',
        edit: addToBlock(/const MATRIX: .* = \{/, `'GET ${url}': 'user',`),
      },
    ],
    next: [
      `Put the answer's schema into read-api/contract/ if the console reads it.`,
      `Name in \`upToDate\` the read models that it is answered from.`,
      `Add a test to test/read-api/.`,
    ],
  }
}

const page = (name = ''): Scaffold => {
  const camel = camelCase(name)
  const component = `${pascalCase(name)}Page`
  const load = `import('../features/${name}/${name}-page.tsx')`
  const translations = (language: 'en' | 'zh', title: string, lead: string): Change[] => [
    {
      path: `console/i18n/${language}/${name}.ts`,
      create:
        language === 'zh'
          ? `export const ${camel} = {\n  title: '${title}',\n` +
            `  lead: '${lead}',\n  empty: '暂无内容',\n} as const\n`
          : `import type { Translations } from '../translation-types.ts'\n\n` +
            `export const ${camel}: Translations['${camel}'] = {\n` +
            `  title: '${title}',\n  lead: '${lead}',\n  empty: 'Nothing here yet',\n}\n`,
    },
    {
      path: `console/i18n/${language}/page-translations.ts`,
      edit: inOrder(
        addToBlock(/export const pageTranslations(: PageTranslations)? = \{/, `${camel},`),
        addImport(`import { ${camel} } from './${name}.ts'`),
      ),
    },
    {
      path: `console/i18n/${language}/shell.ts`,
      edit: addToBlock(
        /export const shell(: Translations\['shell'\])? = \{/,
        `${camel}: '${title}',`,
      ),
    },
  ]
  return {
    changes: [
      {
        path: `console/features/${name}/${name}-page.tsx`,
        create: `import { useTranslation } from 'react-i18next'
import { Page } from '${CONSOLE_UI}/layout/page.tsx'

/** Renders the page "${sentenceCase(name)}". */
export function ${component}() {
  const { t } = useTranslation()
  return (
    <Page title={t('${camel}.title')} lead={t('${camel}.lead')}>
      <p>{t('${camel}.empty')}</p>
    </Page>
  )
}
`,
      },
      ...translations('en', sentenceCase(name), `What this page shows.`),
      ...translations('zh', sentenceCase(name), `本页内容说明。`),
      {
        path: 'console/app/routes.tsx',
        edit: addToBlock(
          /const CONSOLE_PAGES: RouteObject\[\] = \[/,
          `pageWithTexts('/app/${name}', () => ${load}, '${component}'),`,
        ),
      },
      {
        path: 'console/app/navigation.ts',
        edit: inOrder(
          (text) => {
            const keys = [...'abcdefghijklmnopqrstuvwxyz']
            const free = keys.find((key) => !text.includes(`: '${key}',`)) ?? ''
            return addToBlock(/export const GO_KEYS = \{/, `${camel}: '${free}',`)(text)
          },
          addToBlock(
            /\.\.\.inSection\('console', \[/,
            `{ path: '/app/${name}', label: '${camel}', icon: 'list' },`,
          ),
        ),
      },
    ],
    next: [
      `Write the title and the lead in console/i18n/{en,zh}/${name}.ts and the name in shell.ts.`,
      `Fill console/features/${name}/${name}-page.tsx; a list page starts from another list page.`,
      `Add a browser test to test/console/${name}/.`,
    ],
  }
}

const provider = (name = '', id = ''): Scaffold => {
  const row = `{ id: ${id}, name: '${pascalCase(name)}' },`
  return {
    changes: [
      {
        path: 'relay/providers/profiles/profile-table.ts',
        edit: addToBlock(/^export const PROFILE_ROWS: readonly ProfileRow\[\] = \[/m, row),
      },
    ],
    next: [
      `Name in the row what differs from OpenAI: address, paths, header of the key, models.`,
      `Add a recorded stream to test/relay/providers/provider-streams.ts.`,
    ],
  }
}

const option = (section = '', key = ''): Scaffold => ({
  changes: [
    {
      path: `domain/options/sections/${section}.ts`,
      edit: addToBlock(/^ {2}options: \[/m, `{ key: '${key}', type: FLAG, preset: 'false' },`),
    },
    ...['zh', 'en'].map((language) => ({
      path: `read-api/contract/option-translations/${language}.ts`,
      edit: addToBlock(/^ {2}label: \{/m, `${key}: '${key}',`),
    })),
  ],
  next: [
    `Choose type, default and access (domain/options/option-definition.ts).`,
    `Write its label, and help if needed, in read-api/contract/option-translations/{en,zh}.ts.`,
    `Read it where it takes effect: \`optionFlag(values, '${key}')\` or relay/views/.`,
    `Test its effect, and that a bad value is refused (test/write-api/options.test.ts).`,
  ],
})

export const RECIPES: Readonly<Record<string, Recipe>> = {
  action: {
    usage: 'action RESOURCE/NAME, such as action tokens/rename-token',
    pattern: new RegExp(`^${NAME}/${NAME}$`),
    make: action,
  },
  question: {
    usage: 'question AREA/NAME, such as question tokens/token-count',
    pattern: new RegExp(`^${NAME}/${NAME}$`),
    make: question,
  },
  page: {
    usage: 'page NAME, such as page reports',
    pattern: new RegExp(`^${NAME}$`),
    make: page,
  },
  provider: {
    usage: 'provider NAME=TYPE, such as provider example-ai=900 (the number of the channel type)',
    pattern: new RegExp(`^${NAME}=(\\d{1,4})$`),
    make: provider,
  },
  option: {
    usage: 'option SECTION/KEY, such as option channels/ExampleEnabled',
    pattern: new RegExp(`^${NAME}/([A-Z][A-Za-z0-9]*)$`),
    make: option,
  },
}
