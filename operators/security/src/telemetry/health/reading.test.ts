import { describe, expect, test } from 'vitest';
import { growthSince, toReading } from './reading.ts';
import { queueOf, readingOf, textOf } from './testing/figures.ts';

/** What a real gateway tells (0.157.0, level detailed) whose store answers 401: without most of its buckets. */
const refusedGateway = `
# HELP http_client_request_duration Duration of HTTP client requests.
# TYPE http_client_request_duration histogram
http_client_request_duration_bucket{http_request_method="POST",http_response_status_code="401",le="0.005"} 4
http_client_request_duration_sum{http_request_method="POST",http_response_status_code="401",server_port="38333",url_scheme="http"} 0.008
http_client_request_duration_count{http_request_method="POST",http_response_status_code="200",server_port="38333",url_scheme="http"} 2
http_client_request_duration_count{http_request_method="POST",http_response_status_code="401",server_port="38333",url_scheme="http"} 4
otelcol_elasticsearch_bulk_requests_count{http_response_status_code="200",outcome="success"} 2
otelcol_elasticsearch_docs_processed{http_response_status_code="200",outcome="success"} 13
otelcol_elasticsearch_docs_processed{http_response_status_code="409",outcome="failed_client"} 5
otelcol_elasticsearch_docs_processed{error_type="mapper_parsing_exception",http_response_status_code="400",outcome="failed_client"} 2
otelcol_exporter_in_flight_requests{data_type="logs",exporter="elasticsearch/events"} 1
otelcol_exporter_in_flight_requests{data_type="logs",exporter="elasticsearch/inventory"} 0
otelcol_exporter_queue_batch_send_size_sum{exporter="elasticsearch/events"} 30
otelcol_exporter_queue_batch_send_size_bytes_sum{exporter="elasticsearch/events"} 20886
otelcol_exporter_queue_capacity{data_type="logs",exporter="elasticsearch/events"} 5.36870912e+08
otelcol_exporter_queue_capacity{data_type="logs",exporter="elasticsearch/inventory"} 5.36870912e+08
otelcol_exporter_queue_size{data_type="logs",exporter="elasticsearch/events"} 13922
otelcol_exporter_queue_size{data_type="logs",exporter="elasticsearch/inventory"} 0
otelcol_exporter_sent_log_records{exporter="elasticsearch/events"} 10
otelcol_exporter_sent_log_records{exporter="elasticsearch/inventory"} 3
otelcol_process_uptime 23.520059029
otelcol_receiver_accepted_log_records{receiver="otlp",transport="grpc"} 33
`;

/** And a real collector on a node whose gateway is gone. */
const lonelyNode = `
otelcol_exporter_in_flight_requests{data_type="logs",exporter="otlp"} 1
otelcol_exporter_queue_batch_send_size_sum{exporter="otlp"} 63
otelcol_exporter_queue_batch_send_size_bytes_sum{exporter="otlp"} 16275
otelcol_exporter_queue_capacity{data_type="logs",exporter="otlp"} 2.68435456e+08
otelcol_exporter_queue_size{data_type="logs",exporter="otlp"} 7714
otelcol_exporter_sent_log_records{exporter="otlp",server_address="127.0.0.1",server_port="40965"} 33
otelcol_process_uptime 35.291867055
otelcol_receiver_accepted_log_records{receiver="filelog/census",transport=""} 3
otelcol_receiver_accepted_log_records{receiver="filelog/guard",transport=""} 60
rpc_client_call_duration_count{rpc_method="…/Export",rpc_response_status_code="UNAVAILABLE",rpc_system_name="grpc"} 5
rpc_client_call_duration_count{rpc_method="…/Export",rpc_response_status_code="OK",rpc_system_name="grpc",server_port="40965"} 2
`;

describe('what a collector tells', () => {
  test('of a gateway: what it has for each index, what the store answers, what it refused for good', () => {
    expect(toReading(refusedGateway)).toEqual({
      uptime: 23.520059029,
      received: { otlp: 33 },
      queues: {
        'elasticsearch/events': { sent: 10, bytes: 13_922, capacity: 536_870_912, isSending: true, events: 20 },
        'elasticsearch/inventory': { sent: 3, bytes: 0, capacity: 536_870_912, isSending: false },
      },
      answers: { '200': 2, '401': 4 },
      refused: 2,
    });
  });

  test('of a collector on a node: what it read of each tool, and what gateways answer', () => {
    expect(toReading(lonelyNode)).toEqual({
      uptime: 35.291867055,
      received: { 'filelog/census': 3, 'filelog/guard': 60 },
      queues: { otlp: { sent: 33, bytes: 7714, capacity: 268_435_456, isSending: true, events: 30 } },
      answers: { UNAVAILABLE: 5, OK: 2 },
      refused: 0,
    });
  });

  test('the same where names have units and types', () => {
    const text = lonelyNode
      .replace('process_uptime', 'process_uptime_seconds_total')
      .replaceAll('accepted_log_records', 'accepted_log_records_total')
      .replaceAll('call_duration_count', 'call_duration_seconds_count');
    expect(toReading(text)).toEqual(toReading(lonelyNode));
  });

  test.each(['', '<html>Sign in</html>', 'up 1\n'])('something else is no reading: %j', (text) => {
    expect(toReading(text)).toBeUndefined();
  });

  test('what could not be a name or a status is left out: a status of Kubernetes is no place for a stranger to write', () => {
    const text = `otelcol_process_uptime 1
rpc_client_call_duration_count{rpc_response_status_code="call 555-0199"} 1
http_client_request_duration_count{http_response_status_code="https://evil"} 1
otelcol_exporter_queue_size{exporter="elasticsearch/<b>"} 1
otelcol_receiver_accepted_log_records{receiver="__proto__"} 1`;
    expect(toReading(text)).toEqual({ uptime: 1, received: {}, queues: {}, answers: {}, refused: 0 });
  });

  test('the figures of our tests have the form of real ones', () => {
    const reading = readingOf({
      received: { 'filelog/falco': 7 },
      queues: { otlp: queueOf(3, 4) },
      answers: { UNAVAILABLE: 2 },
      refused: 1,
    });
    expect(toReading(textOf(reading))).toEqual(reading);
  });
});

describe('what it counted since', () => {
  const before = readingOf({ received: { a: 5 }, queues: { otlp: queueOf(3) }, answers: { OK: 1 }, refused: 1 });
  const now = readingOf({
    received: { a: 9, b: 2 },
    queues: { otlp: queueOf(4) },
    answers: { OK: 1, '401': 2 },
    refused: 1,
  });

  test('is the difference to an earlier reading, or all since the start', () => {
    expect(growthSince(before, now)).toEqual({
      received: { a: 4, b: 2 },
      sent: { otlp: 1 },
      answers: { OK: 0, '401': 2 },
      refused: 0,
    });
    expect(growthSince(undefined, now)).toMatchObject({ received: { a: 9, b: 2 }, sent: { otlp: 4 }, refused: 1 });
  });
});
