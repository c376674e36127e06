import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OPTIONS_VERSIONS, type OptionsEvent } from '#domain/options/events.ts'
import type { SiteEvent } from '#domain/setup/events.ts'
import { projectionOf } from '../projection.ts'

export const options = projectionOf<OptionsEvent | SiteEvent>({
  name: 'options',
  version: 1,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { options: { key: ['key'] }, site: { key: ['id'], isShared: true } },
  newest: OPTIONS_VERSIONS,
  handlers: {
    OptionSet: ({ data, revision }, rows) => {
      rows.put('options', { key: data.key }, { value: data.value, is_secret: false })
      rows.patch('site', { id: 1 }, { options_revision: revision })
    },
    SecretOptionSet: ({ data, revision }, rows) => {
      rows.put('options', { key: data.key }, { value: data.secretRef, is_secret: true })
      rows.patch('site', { id: 1 }, { options_revision: revision })
    },
    SiteInitialized: ({ data }, rows) =>
      rows.patch(
        'site',
        { id: 1 },
        {
          root_user_id: data.rootUserId,
          is_self_use: data.isSelfUse,
          is_demo_site: data.isDemoSite,
        },
      ),
  },
})
