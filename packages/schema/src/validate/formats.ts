/** The string formats that the API server checks, judged as it judges them (kube-openapi's strfmt, Go's net and time). */

type Format = (value: string) => boolean;

const isDate: Format = (value) => {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return month >= 1 && month <= 12 && day >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};

const isDateTime: Format = (value) => {
  const match = /^(\d{4}-\d{2}-\d{2})t(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/i.exec(value);
  return (
    match !== null && isDate(match[1] ?? '') && Number(match[2]) < 24 && Number(match[3]) < 60 && Number(match[4]) < 60
  );
};

const isIpv4: Format = (value) =>
  /^\d+(\.\d+){3}$/.test(value) && value.split('.').every((part) => Number(part) <= 255);

/** Eight groups of hexadecimal digits, one run of zeros left out, the last two groups perhaps written as IPv4. */
const isIpv6: Format = (value) => {
  const halves = value.split('::');
  if (!value.includes(':') || halves.length > 2) return false;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1)?.at(-1) ?? '';
  const dotted = last.includes('.');
  if (dotted && !isIpv4(last)) return false;
  const all = groups.flat();
  const hexadecimal = dotted ? all.slice(0, -1) : all;
  if (!hexadecimal.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  const length = hexadecimal.length + (dotted ? 2 : 0);
  return halves.length === 2 ? length < 8 : length === 8;
};

const isCidr: Format = (value) => {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(value);
  const [address = '', bits = ''] = [match?.[1], match?.[2]];
  return (isIpv4(address) && Number(bits) <= 32) || (isIpv6(address) && Number(bits) <= 128);
};

const isByte: Format = (value) =>
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(value);

const isUuid: Format = (value) => /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i.test(value);

/** By format: how to judge a value, and how to say what is expected. */
export const formats: Readonly<Record<string, { readonly test: Format; readonly expected: string }>> = {
  'date-time': { test: isDateTime, expected: 'a time such as 2030-01-31T12:00:00Z' },
  date: { test: isDate, expected: 'a date such as 2030-01-31' },
  byte: { test: isByte, expected: 'base64' },
  // The server tells the two by the dot alone, so an IPv6 address that ends in an IPv4 one passes as both.
  ipv4: { test: (value) => isIpv4(value) || (value.includes('.') && isIpv6(value)), expected: 'an IPv4 address' },
  ipv6: { test: isIpv6, expected: 'an IPv6 address' },
  cidr: { test: isCidr, expected: 'a network such as 10.0.0.0/8' },
  uuid: { test: isUuid, expected: 'a UUID' },
};
