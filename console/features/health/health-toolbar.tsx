import type { ReactElement, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { SearchInput } from '#console/ui/forms/search-input.tsx'
import { Segmented } from '#console/ui/forms/switches.tsx'
import { Toolbar } from '#console/ui/lists/toolbar.tsx'
import { PERIODS, type Period, SHOWN, type Shown } from './health-view.ts'

type View = { keyword: string; shown: Shown; window: Period }

export function HealthToolbar(props: {
  view: View
  onView: (patch: Partial<View>, options?: { isTyping?: boolean }) => void
  columns: ReactNode
}): ReactElement {
  const { t } = useTranslation()
  const { view, onView } = props
  return (
    <Toolbar
      label={t('ui.filters')}
      end={
        <>
          <Segmented
            label={t('words.timeRange')}
            value={view.window}
            choices={PERIODS.map((value) => ({ value, label: t(`health.window.${value}`) }))}
            onChange={(window) => onView({ window })}
          />
          {props.columns}
        </>
      }
    >
      <SearchInput
        label={t('health.search')}
        icon="search"
        value={view.keyword}
        onChange={(keyword) => onView({ keyword }, { isTyping: true })}
      />
      <Segmented
        label={t('health.shown.label')}
        value={view.shown}
        choices={SHOWN.map((value) => ({ value, label: t(`health.shown.${value}`) }))}
        onChange={(shown) => onView({ shown })}
      />
    </Toolbar>
  )
}
