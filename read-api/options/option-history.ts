import Type from 'typebox'
import { OPTIONS } from '#domain/options/registry.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { listOptionChanges, type OptionChangeRow } from '#projections/option-changes/query.ts'
import { usersByIds } from '#projections/users/query.ts'
import { Envelope, Page } from '../contract/envelope.ts'
import { OptionChange } from '../contract/options.ts'
import { type App, pageOf, Query, type ReadDeps, textOf, upToDate } from '../question.ts'

const HistoryQuery = Type.Object({ ...Query.page, key: Query.text, section: Query.text })

/** `GET /api/option/history`, for admins: of one option, of a section, or of all; newest first. */
export function optionHistory(app: App, deps: ReadDeps): void {
  app.get(
    '/api/option/history',
    {
      schema: { querystring: HistoryQuery, response: { 200: Envelope(Page(OptionChange)) } },
      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'option-changes', 'price-schedule', 'users'),
    },
    async ({ query }) => {
      const { page, limit, offset } = pageOf(query)
      const keys = keysOf(textOf(query.key), textOf(query.section))
      const { rows, total } = await listOptionChanges(deps.core.db, { keys, limit, offset })
      const names = await namesOf(deps, rows)
      return success({ items: rows.map((row) => changeAnswer(row, names)), page, total })
    },
  )
}

function keysOf(key: string | undefined, section: string | undefined): string[] | null {
  if (key === undefined && section === undefined) return null
  return [...OPTIONS.values()]
    .filter((option) => key === undefined || option.key === key)
    .filter((option) => section === undefined || option.section === section)
    .map((option) => option.key)
}

const userIdOf = (actor: string): number | null =>
  /^user:[1-9]\d{0,14}$/.test(actor) ? Number(actor.slice('user:'.length)) : null

async function namesOf(
  { core }: ReadDeps,
  rows: readonly OptionChangeRow[],
): Promise<ReadonlyMap<number, string>> {
  const ids = rows.flatMap(({ actor }) => userIdOf(actor) ?? [])
  const users = await usersByIds(core.db, [...new Set(ids)])
  return new Map(users.map(({ id, username }) => [id, username]))
}

const changeAnswer = (
  { id, key, before, after, actor, plannedId, at }: OptionChangeRow,
  names: ReadonlyMap<number, string>,
): OptionChange => ({
  id,
  key,
  before,
  after,
  actor,
  username: names.get(userIdOf(actor) ?? 0) ?? '',
  planned_id: plannedId ?? 0,
  changed_at: Math.floor(at / 1_000),
})
