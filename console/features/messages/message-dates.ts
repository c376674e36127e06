/** A day of this browser's calendar, as date inputs have it; empty: none. */
const DAY = /^\d{4}-\d{2}-\d{2}$/

const isDay = (text: string): boolean => DAY.test(text) && !Number.isNaN(Date.parse(text))

export const readDay = (text: string): string | null => (isDay(text) ? text : null)

/** The first and the last moment of the days chosen, in ISO; none unless both are. */
export function isoRange(from: string, until: string): { start: string; end: string } {
  if (!isDay(from) || !isDay(until)) return { start: '', end: '' }
  return {
    start: new Date(`${from}T00:00:00`).toISOString(),
    end: new Date(`${until}T23:59:59.999`).toISOString(),
  }
}
