import { expect, test } from 'vitest';
import { scheduleFlaw } from './cron.ts';

test.each([
  '0 */6 * * *',
  '*/15 * * * *',
  '0 3 * * mon-fri',
  '30 2 1,15 JAN-MAR ?',
  '5-55/10 0-23/2 * * 0,6',
  '  0  6 * * *  ',
  '@daily',
  '@hourly',
])("'%s' is a schedule", (schedule) => {
  expect(scheduleFlaw(schedule)).toBeUndefined();
});

test.each([
  ['', 'five fields (minute, hour, day of the month, month, day of the week)'],
  ['every six hours', 'got 3'],
  ['0 0 */6 * * *', 'got 6'],
  ['60 * * * *', "minute '60': must be *, or numbers from 0 to 59"],
  ['0 24 * * *', "hour '24'"],
  ['0 0 0 * *', "day of the month '0'"],
  ['0 0 * 13 *', 'or jan to dec'],
  ['0 0 * * 7', "day of the week '7': must be *, or numbers from 0 to 6 or sun to sat"],
  ['0 0 * * monday', 'or sun to sat'],
  ['*/0 * * * *', 'a number above 0'],
  ['*/5/5 * * * *', 'a number above 0'],
  ['9-5 * * * *', 'the range ends before it begins'],
  ['1,,2 * * * *', "minute '1,,2'"],
  ['-1 * * * *', "minute '-1'"],
  ['@noon', 'one of @yearly'],
  ['TZ=Asia/Seoul 0 6 * * *', 'set timeZone'],
])("'%s' is none: %s", (schedule, expected) => {
  expect(scheduleFlaw(schedule)).toContain(expected);
});
