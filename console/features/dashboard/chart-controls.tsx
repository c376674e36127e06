import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Segmented } from '#console/ui/forms/switches.tsx'
import { type ChartView, MEASURES } from './use-chart-view.ts'

/** The chart's controls for scope, series, step and range. Controls with one option are hidden. */
export function ChartControls({ view }: { view: ChartView }): ReactElement {
  const { t } = useTranslation()
  const { set } = view
  return (
    <div className="tg-dash-controls">
      {view.isSiteKnown && (
        <Segmented
          label={t('dashboard.scope')}
          value={view.scope}
          choices={[
            { value: 'self', label: t('dashboard.mine') },
            { value: 'all', label: t('dashboard.everybody') },
          ]}
          onChange={(scope) => set({ scope })}
        />
      )}
      {view.scope === 'self' && (
        <Segmented
          label={t('dashboard.by')}
          value={view.by}
          choices={[
            { value: 'model', label: t('words.byModel') },
            { value: 'token', label: t('dashboard.byToken') },
          ]}
          onChange={(by) => set({ by })}
        />
      )}
      <Segmented
        label={t('dashboard.measure')}
        value={view.measure}
        choices={MEASURES.map((value) => ({ value, label: t(`dashboard.${value}`) }))}
        onChange={(measure) => set({ measure })}
      />
      {view.steps.length > 1 && (
        <Segmented
          label={t('dashboard.grain')}
          value={view.step}
          choices={view.steps.map((value) => ({ value, label: t(`dashboard.per.${value}`) }))}
          onChange={(step) => set({ step })}
        />
      )}
      <Segmented
        label={t('dashboard.range')}
        value={view.zoom === null ? view.range : ''}
        choices={view.ranges.map((value) => ({ value, label: t(`dashboard.${value}`) }))}
        onChange={(range) => set({ range, from: 0, to: 0 })}
      />
    </div>
  )
}
