export const RICH_KEY = `${'rich'.repeat(11)}RICH`
export const MODEST_KEY = `${'some'.repeat(11)}SOME`
export const UNPAID_KEY = `${'poor'.repeat(11)}POOR`
