import * as geolib from "geolib";

export default function () {
  const [berlin, paris] = [{ latitude: 52.518611, longitude: 13.408056 }, { lat: "48° 51.4' N", lon: "2° 21.1' E" }];
  return [geolib.getDistance(berlin, paris), geolib.getPreciseDistance(berlin, { latitude: 48.8566, longitude: 2.3522 }), geolib.getCenter([berlin, { latitude: 1, longitude: 1 }]), geolib.isPointInPolygon({ latitude: 1, longitude: 1 }, [[0, 0], [0, 2], [2, 2], [2, 0]].map(([latitude, longitude]) => ({ latitude, longitude }))), geolib.getCompassDirection(berlin, { latitude: 50, longitude: 20 }), geolib.convertDistance(1500, "km"), geolib.decimalToSexagesimal(51.49611), geolib.getBounds([berlin, { latitude: 0, longitude: 0 }])];
}
