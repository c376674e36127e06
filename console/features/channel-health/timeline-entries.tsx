import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocale, useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import type { TimelineEntry } from '#read-api/contract/channel-timeline.ts'
import {
  type EntryGroup,
  entryDetail,
  entryTone,
  groupEntries,
  scopeText,
  spanText,
  summaryOf,
} from './timeline-entry-groups-and-texts.ts'

export function TimelineEntries({ items }: { items: readonly TimelineEntry[] }) {
  const { t } = useTranslation()
  if (items.length === 0) return <p className="tg-muted">{t('health.noEntries')}</p>
  return (
    <ol className="tg-health-entries">
      {groupEntries(items).map((group) =>
        group.length === 1 ? (
          <Entry key={group[0].id} entry={group[0]} />
        ) : (
          // The key is the id of the oldest entry. A newer entry therefore does not close an
          // expanded group.
          <FoldedEntries key={`fold-${group.at(-1)?.id}`} group={group} />
        ),
      )}
    </ol>
  )
}

const Entry = ({ entry }: { entry: TimelineEntry }) => (
  <li>
    <Time at={Math.floor(entry.at / 1_000)} style="stamp" />
    <EntryText entry={entry} />
  </li>
)

function FoldedEntries({ group }: { group: EntryGroup }) {
  const { t } = useTranslation()
  const locale = useLocale()
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const { newest, oldest, openings } = summaryOf(group)
  const count = group.length
  const span = spanText(newest.at - oldest.at, locale)
  const detail = [
    t('health.entryGroup.span', { count, span }),
    ...(openings === 0 ? [] : [t('health.entryGroup.opened', { count: openings })]),
  ]
  return (
    <li>
      <Time at={Math.floor(newest.at / 1_000)} style="stamp" />
      <div>
        <div className="tg-health-fold-line">
          <span className="tg-health-entry">
            <StatusTag tone={entryTone(newest)}>{t(`health.entry.${newest.kind}`)}</StatusTag>
            <span>{scopeText(t, newest) || t('health.wholeChannel')}</span>
            <span className="tg-muted">{detail.join(' · ')}</span>
          </span>
          <Button
            tone="quiet"
            size="small"
            icon={isOpen ? 'chevronUp' : 'chevronDown'}
            label={t(isOpen ? 'health.entryGroup.collapse' : 'health.entryGroup.expand', { count })}
            isExpanded={isOpen}
            describedBy={isOpen ? id : undefined}
            onClick={() => setOpen(!isOpen)}
          />
        </div>
        {isOpen && (
          <ol id={id} className="tg-health-folded">
            {group.map((entry) => (
              <Entry key={entry.id} entry={entry} />
            ))}
          </ol>
        )}
      </div>
    </li>
  )
}

export function EntryText({ entry }: { entry: TimelineEntry }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const detail = entryDetail(t, entry, number)
  const by = entry.by === null ? t('health.gateway') : entry.by.name || `#${entry.by.id}`
  return (
    <span className="tg-health-entry">
      <StatusTag tone={entryTone(entry)}>{t(`health.entry.${entry.kind}`)}</StatusTag>
      {detail !== '' && <span>{detail}</span>}
      <span className="tg-muted">{t('health.byActor', { name: by })}</span>
    </span>
  )
}
