import { useTranslation } from 'react-i18next'
import { type Density, useDensity } from '../data-grid/grid-props-and-row-heights.ts'
import type { ColumnLayout } from '../data-grid/use-column-layout.ts'
import { Button } from '../elements/button.tsx'
import { Popover } from '../elements/popover.tsx'
import { Checkbox, Segmented } from '../forms/choice-inputs.tsx'

type Choice<Row> = {
  layout: ColumnLayout<Row>
  density?: Density
}

export function ColumnChooser<Row>(props: Choice<Row>) {
  const { t } = useTranslation()
  return (
    <Popover content={<Choices {...props} />}>
      <Button icon="columns" label={t('ui.columns')} />
    </Popover>
  )
}

function Choices<Row>({ layout, density: atFirst }: Choice<Row>) {
  const { t } = useTranslation()
  const [density, setDensity] = useDensity(atFirst)
  const hideable = layout.all.filter((column) => column.isPinned !== true)
  return (
    <div className="tg-chooser">
      <ul aria-label={t('ui.columns')}>
        {hideable.map((column, index) => (
          <li key={column.id}>
            <Checkbox
              label={column.title}
              isOn={layout.isShown(column)}
              onChange={(isOn) => layout.setShown(column.id, isOn)}
            />
            {(['Up', 'Down'] as const).map((way) => (
              <Button
                key={way}
                tone="quiet"
                size="small"
                icon={`arrow${way}`}
                label={t(`ui.move${way}`, { name: column.title })}
                isDisabled={index === (way === 'Up' ? 0 : hideable.length - 1)}
                onClick={() => layout.move(column.id, way === 'Up' ? -1 : 1)}
              />
            ))}
          </li>
        ))}
      </ul>
      <footer>
        <TimeFormatLine layout={layout} />
        <ChoiceLine
          label={t('ui.density')}
          value={density}
          choices={[
            { value: 'compact', label: t('ui.densityCompact') },
            { value: 'comfortable', label: t('ui.densityComfortable') },
          ]}
          onChange={setDensity}
        />
        <Button tone="quiet" size="small" onClick={layout.reset}>
          {t('ui.columnsReset')}
        </Button>
      </footer>
    </div>
  )
}

function TimeFormatLine<Row>({ layout }: { layout: ColumnLayout<Row> }) {
  const { t } = useTranslation()
  if (layout.isAgo === null) return null
  return (
    <ChoiceLine
      label={t('ui.timeFormat')}
      value={layout.isAgo ? 'ago' : 'date'}
      choices={[
        { value: 'date', label: t('ui.timeFormatAbsolute') },
        { value: 'ago', label: t('ui.timeFormatRelative') },
      ]}
      onChange={(times) => layout.setAgo(times === 'ago')}
    />
  )
}

function ChoiceLine<Value extends string>(props: Parameters<typeof Segmented<Value>>[0]) {
  return (
    <div className="tg-chooser-line">
      <span aria-hidden="true">{props.label}</span>
      <Segmented {...props} />
    </div>
  )
}
