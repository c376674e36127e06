import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { healthKey } from '#console/api/channel-health.ts'
import { apiQuery } from '#console/api/client.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { TextInput } from '#console/ui/forms/inputs.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import type { ChannelTimeline } from '#read-api/contract/channel-timeline.ts'
import { EntryText, TimelineEntries } from './timeline-entries.tsx'

const pad = (part: number): string => String(part).padStart(2, '0')

function fieldText(at: number): string {
  if (at === 0) return ''
  const date = new Date(at * 1_000)
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
  return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
}

function MomentPicker(props: { at: number; onAt: (at: number) => void }) {
  const { t } = useTranslation()
  const id = useId()
  const [draft, setDraft] = useState({ at: props.at, text: fieldText(props.at) })
  if (draft.at !== props.at) setDraft({ at: props.at, text: fieldText(props.at) })
  const moment = Math.floor(new Date(draft.text).getTime() / 1_000)
  const isValidTime = Number.isSafeInteger(moment) && moment > 0
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (isValidTime) props.onAt(moment)
  }
  return (
    <form className="tg-health-moment" onSubmit={submit}>
      <label htmlFor={id}>{t('health.stateAt')}</label>
      <TextInput
        id={id}
        type="datetime-local"
        step={1}
        value={draft.text}
        onChange={(text) => setDraft({ at: props.at, text })}
      />
      <Button type="submit" isDisabled={!isValidTime}>
        {t('shared.view')}
      </Button>
      {props.at !== 0 && (
        <Button tone="quiet" onClick={() => props.onAt(0)}>
          {t('shared.backToNow')}
        </Button>
      )}
    </form>
  )
}

export function Timeline(props: {
  channelId: number
  /** The end of the timeline in Unix seconds, or 0 for the current time. */
  at: number
  onAt: (at: number) => void
}) {
  const { t } = useTranslation()
  const { channelId, at } = props
  const [page, setPage] = useState({ at, number: 0 })
  const current = page.at === at ? page.number : 0
  const read = useQuery({
    ...timelineQuery({ channelId, at, page: current }),
    refetchInterval: at === 0 ? 10_000 : false,
  })
  const { data } = read
  const pages = Math.ceil((data?.total ?? 0) / TIMELINE_PAGE)
  const openPage = (number: number) => setPage({ at, number })
  return (
    <section aria-label={t('health.timeline')}>
      <h3>{t('health.timeline')}</h3>
      <MomentPicker at={at} onAt={props.onAt} />
      {data?.state_at != null && <StateAtMoment state={data.state_at} />}
      <QueryView query={read} height={80}>
        {({ items }) => <TimelineEntries items={items} />}
      </QueryView>
      {pages > 1 && (
        <div className="tg-actions">
          <Button
            tone="quiet"
            icon="chevronLeft"
            label={t('health.newer')}
            isDisabled={current === 0}
            onClick={() => openPage(current - 1)}
          />
          <span className="tg-muted">{t('ui.pageOf', { page: current + 1, pages })}</span>
          <Button
            tone="quiet"
            icon="chevronRight"
            label={t('health.older')}
            isDisabled={current + 1 >= pages}
            onClick={() => openPage(current + 1)}
          />
        </div>
      )}
    </section>
  )
}

function StateAtMoment(props: { state: NonNullable<ChannelTimeline['state_at']> }) {
  const { t } = useTranslation()
  const { state, because } = props.state
  return (
    <output className="tg-health-then">
      <b>{t(`health.stateThen.${state}`)}</b>
      {because !== null && (
        <span>
          <EntryText entry={because} /> <Time at={Math.floor(because.at / 1_000)} style="stamp" />
        </span>
      )}
    </output>
  )
}

/**
 * The number of entries that are read per page. The number is high, because one line on the screen
 * can combine several entries.
 */
const TIMELINE_PAGE = 50

function timelineQuery(request: { channelId: number; at: number; page: number }) {
  const { channelId: id, at, page } = request
  const moment = at === 0 ? {} : { at, to: at }
  const query = { p: page, page_size: TIMELINE_PAGE, ...moment }
  return {
    ...apiQuery('GET /api/channel/:id/timeline', { params: { id }, query }, [
      ...healthKey,
      'timeline',
      request,
    ]),
    placeholderData: keepPreviousData,
  }
}
