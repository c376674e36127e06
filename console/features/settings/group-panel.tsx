import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Segmented } from '#console/ui/switches.tsx'
import { choiceParam } from '#console/ui/url-state.ts'
import { useUrlState } from '#console/ui/use-url-state.ts'
import { GroupEditor } from './group-editor.tsx'
import { readGroupMaps } from './group-table.ts'
import { JsonOption } from './json-option.tsx'
import type { SettingsForm } from './use-settings-form.ts'

const VIEWS = ['table', 'json'] as const
const ADDRESS = { groups: choiceParam(VIEWS, 'table') }

/** The groups: as a table, or as JSON, which alone can mend what the table can't read. */
export function GroupPanel({ form }: { form: SettingsForm }): ReactElement {
  const { t } = useTranslation()
  const [{ groups: view }, setAddress] = useUrlState(ADDRESS)
  const maps = readGroupMaps((key) => form.value(key) || '{}')
  return (
    <>
      <div className="tg-price-views">
        <Segmented
          label={t('prices.groupViews')}
          value={maps === null ? 'json' : view}
          choices={VIEWS.map((value) => ({ value, label: t(`prices.groupView.${value}`) }))}
          onChange={(groups) => setAddress({ groups })}
        />
      </div>
      {view === 'table' && maps !== null ? (
        <GroupEditor form={form} maps={maps} />
      ) : (
        <div className="tg-json-grid">
          {form.optionsOf('groups').map(({ key }) => (
            <JsonOption key={key} option={key} form={form} />
          ))}
        </div>
      )}
    </>
  )
}
